//! Corrections that the author keeps beside a source, applied at every import.
