BACKUP DATABASE [sales]
TO DISK = N'/b1/sales.1.1.bak',
   DISK = N'/it''s/sales.1.2.bak',
   DISK = N'/it''s/sales.1.3.bak'
WITH FORMAT, INIT, CHECKSUM, STATS = 10;
GO
BACKUP DATABASE [a]]b]
TO DISK = N'D:\backup\sales.1.1.bak'
WITH FORMAT, INIT, CHECKSUM, COPY_ONLY, COMPRESSION, BUFFERCOUNT = 50, MAXTRANSFERSIZE = 4194304, BLOCKSIZE = 65536, STATS = 10;
GO
BACKUP DATABASE [sales]
TO URL = N'https://acct.blob.core.windows.net/c/x.1.bak',
   URL = N'https://acct.blob.core.windows.net/c/x.2.bak'
WITH FORMAT, INIT, CHECKSUM, COPY_ONLY, NO_COMPRESSION, STATS = 10;
GO
