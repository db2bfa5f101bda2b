"""The record of a pass, and the interventions that change it. Only `tap` knows torch."""
