//! Every decision of an import, as data.
