SET FMTONLY ON select * from [dbo].[t] SET FMTONLY OFF
