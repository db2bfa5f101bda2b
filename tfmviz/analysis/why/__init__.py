"""Why a head looks where it looks: a score as a sum over those who wrote what it reads, and what hangs on each."""
