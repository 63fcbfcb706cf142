"""The process that listens: it sends warm reads itself and passes everything else on to the application (ADR 16)."""
