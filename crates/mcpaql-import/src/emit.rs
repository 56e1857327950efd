//! Adapter → document: front matter in a stable order.
