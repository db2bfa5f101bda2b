"""The bar below every chart that Streamlit draws. It is part of the view `keys`, which stands on every page."""
