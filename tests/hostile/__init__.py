"""What once hurt: texts, addresses, spellings. The data are tables; one module drives them all."""
