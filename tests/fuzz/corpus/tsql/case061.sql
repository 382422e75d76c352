sp_who active
