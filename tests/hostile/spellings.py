"""Addresses of Streamlit's own that are not for readers, as somebody may spell them who wants to come in."""

CLOSED = (
    *("/_stcore/metrics", "/_stcore/metrics?families=cache_memory_bytes", "/_stcore/metrics/", "/_stcore//metrics"),
    *("//_stcore/metrics", "///_stcore///metrics", "/./_stcore/metrics", "/_stcore/./metrics"),
    *("/masks/../_stcore/metrics", "/_stcore/health/../metrics", "/_stcore/upload_file/../metrics"),
    *("/_stcore/health/metrics", "/_stcore/metrics;a=b", "/_stcore;a=b/metrics", "/;/_stcore/metrics"),
    *("/_stcore/metrics.json", "/_STCORE/METRICS", "/_stcore/Metrics", "/%5fstcore/metrics", "/%5Fstcore/metrics"),
    *("/_stcore/%6detrics", "/_stcore/%6Detrics", "/%5f%73%74%63%6f%72%65/%6d%65%74%72%69%63%73"),
    *("/%5FSTCORE/%4DETRICS", "/_stcore%2fmetrics", "/%2f_stcore/metrics", "/_stcore/%2e/metrics"),
    *("/_stcore/%2e%2e/_stcore/metrics", "/_stcore%5cmetrics", "/_stcore\\metrics", "/\\_stcore/metrics"),
    *("/_stcore/metrics%00", "/%00/_stcore/metrics", "/%2500/_stcore/metrics", "/%00/%255fstcore/metrics"),
    *("/_stcore/metrics%0a", "/_stcore/metrics%20", "/_stcore/metrics%3f", "/_stcore/metrics#x"),
    *("/_stcore/metrics%23", "/%255fstcore/metrics", "/_stcore/%256detrics", "/_stcore/metrics%"),
    *("/%5fstcore/metrics%zz", "http://localhost/_stcore/%6detrics", "/_stcore/upload_file/1f-2/3c-4"),
    *("/_stcore/%75pload_file/1f-2/3c-4", "/_stcore/agent/openapi.json", "/%5fstcore/%61gent/openapi.json"),
    *("/_stcore/agent/mcp", "/_stcore/script-health-check", "/_stcore/bidi-components/x/y.js", "/auth/login"),
    *("/auth/login?provider=default", "/auth/logout", "/auth/", "//auth/login", "/AUTH/login", "/%61uth/login"),
    *("/%2561uth/login", "/auth%2flogin", "/masks/../auth/login", "/oauth2callback", "/oauth2callback?state=1"),
    *("/%6fauth2callback", "/component/x/y.js", "/component%2fx"),
)
