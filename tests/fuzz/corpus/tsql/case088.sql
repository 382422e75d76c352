SELECT [abc
