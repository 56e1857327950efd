"""Finds operations by what somebody wants to do: ranked, in memory, in words, without a model.

What always holds: the same index and question give the same hits in the same order, ties going to the earlier
operation; any text is a question, be it empty, endless or in no language at all; nothing here reads a clock or chance.

An operation is a small document of weighted fields. Its *head* is what names it: the nouns of its name and path. Rare
words weigh more than common ones, the verbs that half of all operations start with hardly count as words but say which
category is meant, and an operation whose head holds words that nobody asked for stands behind one that holds only what
was asked.
"""
