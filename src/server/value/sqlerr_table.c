#include "server/value/sqlerr_table.h"

const struct sqlerr_row sqlerr_table[] = {
    {101, 15, "Query not allowed in WAITFOR."},
    {102, 15, "Incorrect syntax near '%s'."},
    {103, 15, "The %s that starts with '%s' is too long. Maximum length is %d."},
    {104, 15,
     "ORDER BY items must appear in the select list if the statement contains a UNION, "
     "INTERSECT or EXCEPT operator."},
    {105, 15, "Unclosed quotation mark after the character string '%s'."},
    {106, 16, "Too many table names in the query. The maximum allowable is %d."},
    {107, 15,
     "The column prefix '%s' does not match with a table name or alias name used in the "
     "query."},
    {108, 15,
     "The ORDER BY position number %d is out of range of the number of items in the "
     "select list."},
    {109, 15,
     "There are more columns in the INSERT statement than values specified in the VALUES "
     "clause. The number of values in the VALUES clause must match the number of columns "
     "specified in the INSERT statement."},
    {110, 15,
     "There are fewer columns in the INSERT statement than values specified in the "
     "VALUES clause. The number of values in the VALUES clause must match the number of "
     "columns specified in the INSERT statement."},
    {111, 15, "'%s' must be the first statement in a query batch."},
    {113, 15, "Missing end comment mark '*/'."},
    {116, 15,
     "Only one expression can be specified in the select list when the subquery is not "
     "introduced with EXISTS."},
    {117, 15,
     "The %s name '%s' contains more than the maximum number of prefixes. The maximum is "
     "%d."},
    {119, 15,
     "Must pass parameter number %d and subsequent parameters as '@name = value'. After "
     "the form '@name = value' has been used, all subsequent parameters must be passed "
     "in the form '@name = value'."},
    {120, 15,
     "The select list for the INSERT statement contains fewer items than the insert "
     "list. The number of SELECT values must match the number of INSERT columns."},
    {121, 15,
     "The select list for the INSERT statement contains more items than the insert list. "
     "The number of SELECT values must match the number of INSERT columns."},
    {126, 15, "Invalid pseudocolumn \"%s\"."},
    {127, 15, "A TOP N or FETCH rowcount value may not be negative."},
    {128, 15,
     "The name \"%s\" is not permitted in this context. Valid expressions are constants, "
     "constant expressions, and (in some contexts) variables. Column names are not "
     "permitted."},
    {130, 16,
     "Cannot perform an aggregate function on an expression containing an aggregate or a "
     "subquery."},
    {131, 15,
     "The size (%lld) given to the type '%s' exceeds the maximum allowed for any data "
     "type (%d)."},
    {132, 15,
     "The label '%s' has already been declared. Label names must be unique within a "
     "query batch or stored procedure."},
    {133, 15,
     "A GOTO statement references the label '%s' but the label has not been declared."},
    {134, 15,
     "The variable name '%s' has already been declared. Variable names must be unique "
     "within a query batch or stored procedure."},
    {135, 15, "Cannot use a BREAK statement outside the scope of a WHILE statement."},
    {136, 15, "Cannot use a CONTINUE statement outside the scope of a WHILE statement."},
    {137, 15, "Must declare the scalar variable \"%s\"."},
    {139, 15, "Cannot assign a default value to a local variable."},
    {141, 15,
     "A SELECT statement that assigns a value to a variable must not be combined with "
     "data-retrieval operations."},
    {144, 15,
     "Cannot use an aggregate or a subquery in an expression used for the group by list "
     "of a GROUP BY clause."},
    {145, 15,
     "ORDER BY items must appear in the select list if SELECT DISTINCT is specified."},
    {147, 15,
     "An aggregate may not appear in the WHERE clause unless it is in a subquery "
     "contained in a HAVING clause or a select list, and the column being aggregated is "
     "an outer reference."},
    {148, 15, "Incorrect time syntax in time string '%s' used with WAITFOR."},
    {154, 15, "%s is not allowed in %s."},
    {155, 15, "'%s' is not a recognized %s option."},
    {156, 15, "Incorrect syntax near the keyword '%s'."},
    {157, 15, "An aggregate may not appear in the set list of an UPDATE statement."},
    {164, 15,
     "Each GROUP BY expression must contain at least one column that is not an outer "
     "reference."},
    {166, 15,
     "'%s' does not allow specifying the database name as a prefix to the object name."},
    {170, 15, "Line %d: Incorrect syntax near '%s'."},
    {174, 15, "The %s function requires %d argument(s)."},
    {178, 15, "A RETURN statement with a return value cannot be used in this context."},
    {180, 15,
     "There are too many parameters in this statement. The maximum number is %d."},
    {189, 15, "The %s function requires %d to %d arguments."},
    {191, 15,
     "Some part of your SQL statement is nested too deeply. Rewrite the query or break "
     "it up into smaller queries."},
    {193, 15,
     "The object or column name starting with '%s' is too long. The maximum length is %d "
     "characters."},
    {195, 15, "'%s' is not a recognized %s."},
    {201, 16,
     "Procedure or function '%s' expects parameter '%s', which was not supplied."},
    {203, 16, "The name '%s' is not a valid identifier."},
    {205, 16,
     "All queries combined using a UNION, INTERSECT or EXCEPT operator must have an "
     "equal number of expressions in their target lists."},
    {206, 16, "Operand type clash: %s is incompatible with %s"},
    {207, 16, "Invalid column name '%s'."},
    {208, 16, "Invalid object name '%s'."},
    {209, 16, "Ambiguous column name '%s'."},
    {213, 16,
     "Column name or number of supplied values does not match table definition."},
    {214, 16, "Procedure expects parameter '%s' of type '%s'."},
    {217, 16,
     "Maximum stored procedure, function, trigger, or view nesting level exceeded (limit "
     "%d)."},
    {220, 16, "Arithmetic overflow error for data type %s, value = %lld."},
    {229, 14,
     "The %s permission was denied on the object '%s', database '%s', schema '%s'."},
    {230, 14,
     "The %s permission was denied on the column '%s' of the object '%s', database '%s', "
     "schema '%s'."},
    {232, 16, "Arithmetic overflow error for type %s, value = %s."},
    {234, 16, "There is insufficient result space to convert a money value to %s."},
    {235, 16,
     "Cannot convert a char value to money. The char value has incorrect syntax."},
    {236, 16,
     "The conversion from char data type to money resulted in a money overflow error."},
    {237, 16, "There is insufficient result space to convert a money value to %s."},
    {238, 16,
     "There is insufficient result space to convert the %s value (= %s) to the money "
     "data type."},
    {241, 16,
     "Conversion failed when converting date and/or time from character string."},
    {242, 16,
     "The conversion of a %s data type to a %s data type resulted in an out-of-range "
     "value."},
    {243, 16, "Type %s is not a defined system type."},
    {244, 16,
     "The conversion of the %s value '%s' overflowed an %s column. Use a larger integer "
     "column."},
    {245, 16, "Conversion failed when converting the %s value '%s' to data type %s."},
    {248, 16, "The conversion of the %s value '%s' overflowed an int column."},
    {257, 16,
     "Implicit conversion from data type %s to %s is not allowed. Use the CONVERT "
     "function to run this query."},
    {260, 16,
     "Disallowed implicit conversion from data type %s to data type %s, table '%s', "
     "column '%s'. Use the CONVERT function to run this query."},
    {262, 14, "%s permission denied in database '%s'."},
    {264, 16,
     "The column name '%s' is specified more than once in the SET clause or column list "
     "of an INSERT. A column cannot be assigned more than one value in the same clause."},
    {266, 16,
     "Transaction count after EXECUTE indicates a mismatching number of BEGIN and COMMIT "
     "statements. Previous count = %d, current count = %d."},
    {267, 16, "Object '%s' cannot be found."},
    {271, 16,
     "The column \"%s\" cannot be modified because it is either a computed column or is "
     "the result of a UNION operator."},
    {272, 16, "Cannot update a timestamp column."},
    {273, 16,
     "Cannot insert an explicit value into a timestamp column. Use INSERT with a column "
     "list to exclude the timestamp column, or insert a DEFAULT into the timestamp "
     "column."},
    {281, 16,
     "%d is not a valid style number when converting from %s to a character string."},
    {293, 16,
     "Cannot convert char value to smallmoney. The char value has incorrect syntax."},
    {294, 16,
     "The conversion from char data type to smallmoney data type resulted in a "
     "smallmoney overflow error."},
    {295, 16,
     "Conversion failed when converting character string to smalldatetime data type."},
    {302, 16,
     "The newsequentialid() built-in function can only be used in a DEFAULT expression."},
    {306, 16,
     "The text, ntext, and image data types cannot be compared or sorted, except when "
     "using IS NULL or LIKE operator."},
    {310, 15,
     "The value %d specified for the MAXRECURSION option exceeds the allowed maximum of "
     "%d."},
    {313, 16,
     "An insufficient number of arguments were supplied for the procedure or function "
     "%s."},
    {319, 15,
     "Incorrect syntax near the keyword 'with'. If this statement is a common table "
     "expression, the previous statement must be terminated with a semicolon."},
    {321, 15,
     "\"%s\" is not a recognized table hints option. If it is intended as a parameter to "
     "a table-valued function, ensure that your database compatibility mode is set to "
     "90."},
    {334, 16,
     "The target table '%s' of the DML statement cannot have any enabled triggers if the "
     "statement contains an OUTPUT clause without INTO clause."},
    {336, 15,
     "Incorrect syntax near '%s'. If this is intended to be a common table expression, "
     "you need to explicitly terminate the previous statement with a semi-colon."},
    {339, 16, "DEFAULT or NULL are not allowed as explicit identity values."},
    {402, 16, "The data types %s and %s are incompatible in the %s operator."},
    {404, 16,
     "The column reference \"%s\" is not allowed because it refers to a base table that "
     "is not being modified in this statement."},
    {409, 16, "The %s operation cannot take a %s data type as an argument."},
    {447, 16, "Expression type %s is invalid for COLLATE clause."},
    {448, 16, "Invalid collation '%s'."},
    {451, 16,
     "Cannot resolve collation conflict between \"%s\" and \"%s\" in %s operator "
     "occurring in %s statement column %d."},
    {457, 16,
     "Implicit conversion of %s value to %s cannot be performed because the collation of "
     "the value is unresolved due to a collation conflict."},
    {468, 16,
     "Cannot resolve the collation conflict between \"%s\" and \"%s\" in the %s "
     "operation."},
    {487, 16, "An invalid option was specified for the statement \"%s\"."},
    {506, 16, "The invalid escape character \"%s\" was specified in a %s predicate."},
    {511, 16,
     "Cannot create a row of size %d which is greater than the allowable maximum row "
     "size of %d."},
    {512, 16,
     "Subquery returned more than 1 value. This is not permitted when the subquery "
     "follows =, !=, <, <= , >, >= or when the subquery is used as an expression."},
    {515, 16,
     "Cannot insert the value NULL into column '%s', table '%s'; column does not allow "
     "nulls. %s fails."},
    {517, 16, "Adding a value to a '%s' column caused an overflow."},
    {529, 16, "Explicit conversion from data type %s to %s is not allowed."},
    {530, 16,
     "The statement terminated. The maximum recursion %d has been exhausted before "
     "statement completion."},
    {532, 16,
     "The timestamp (changed to %s) shows that the row has been updated by another "
     "user."},
    {535, 16,
     "The datediff function resulted in an overflow. The number of dateparts separating "
     "two date/time instances is too large. Try to use datediff with a less precise "
     "datepart."},
    {536, 16, "Invalid length parameter passed to the %s function."},
    {537, 16, "Invalid length parameter passed to the LEFT or SUBSTRING function."},
    {544, 16,
     "Cannot insert explicit value for identity column in table '%s' when "
     "IDENTITY_INSERT is set to OFF."},
    {545, 16,
     "Explicit value must be specified for identity column in table '%s' either when "
     "IDENTITY_INSERT is set to ON or when a replication user is inserting into a NOT "
     "FOR REPLICATION identity column."},
    {547, 16,
     "The %s statement conflicted with the %s constraint \"%s\". The conflict occurred "
     "in database \"%s\", table \"%s\"%s."},
    {574, 16, "%s statement cannot be used inside a user transaction."},
    {596, 21, "Cannot continue the execution because the session is in the kill state."},
    {701, 17,
     "There is insufficient system memory in resource pool '%s' to run this query."},
    {773, 16,
     "The number of columns in the stream (%d) is not the number of columns declared "
     "(%d)."},
    {902, 16,
     "To change the %s, the database must be in state in which a checkpoint can be "
     "executed."},
    {911, 16,
     "Database '%s' does not exist. Make sure that the name is entered correctly."},
    {916, 14,
     "The server principal \"%s\" is not able to access the database \"%s\" under the "
     "current security context."},
    {924, 14, "Database '%s' is already open and can only have one user at a time."},
    {942, 14, "Database '%s' cannot be opened because it is offline."},
    {1001, 15, "Length or precision specification %d is invalid."},
    {1002, 15, "Specified scale %d is invalid."},
    {1008, 15,
     "The SELECT item identified by the ORDER BY number %d contains a variable as part "
     "of the expression identifying a column position. Variables are only allowed when "
     "ordering by an expression referencing a column name."},
    {1010, 15, "Invalid escape character '%s'."},
    {1011, 16, "The correlation name '%s' is specified multiple times in a FROM clause."},
    {1013, 16,
     "The objects \"%s\" and \"%s\" in the FROM clause have the same exposed names. Use "
     "correlation names to distinguish them."},
    {1014, 15, "A TOP or FETCH clause contains an invalid value."},
    {1015, 15,
     "An aggregate cannot appear in an ON clause unless it is in a subquery contained in "
     "a HAVING clause or select list, and the column being aggregated is an outer "
     "reference."},
    {1016, 15,
     "Outer join operators cannot be specified in a query containing joined tables."},
    {1033, 15,
     "The ORDER BY clause is invalid in views, inline functions, derived tables, "
     "subqueries, and common table expressions, unless TOP, OFFSET or FOR XML is also "
     "specified."},
    {1038, 15,
     "An object or column name is missing or empty. For SELECT INTO statements, verify "
     "each column has a name. For other statements, look for empty alias names."},
    {1046, 15,
     "Subqueries are not allowed in this context. Only scalar expressions are allowed."},
    {1047, 15, "Conflicting locking hints specified."},
    {1060, 15,
     "The number of rows provided for a TOP or FETCH clauses row count parameter must be "
     "an integer."},
    {1087, 15, "Must declare the table variable \"%s\"."},
    {1088, 16,
     "Cannot find the object \"%s\" because it does not exist or you do not have "
     "permissions."},
    {1101, 17,
     "Could not allocate a new page for database '%s' because of insufficient disk space "
     "in filegroup '%s'."},
    {1105, 17,
     "Could not allocate space for object '%s' in database '%s' because the filegroup is "
     "full."},
    {1204, 19, "The instance cannot obtain a LOCK resource at this time."},
    {1205, 13,
     "Transaction (Process ID %d) was deadlocked on %s resources with another process "
     "and has been chosen as the deadlock victim. Rerun the transaction."},
    {1222, 16, "Lock request time out period exceeded."},
    {1701, 16,
     "Creating or altering table '%s' failed because the minimum row size would be %d, "
     "including %d bytes of internal overhead. This exceeds the maximum allowable table "
     "row size of %d bytes."},
    {1702, 16,
     "CREATE TABLE failed because column '%s' in table '%s' exceeds the maximum of %d "
     "columns."},
    {1750, 16, "Could not create constraint or index. See previous errors."},
    {1759, 16,
     "Computed column '%s' in table '%s' is not allowed to be used in another "
     "computed-column definition."},
    {1767, 16, "Foreign key '%s' references invalid table '%s'."},
    {1769, 16,
     "Foreign key '%s' references invalid column '%s' in referencing table '%s'."},
    {1770, 16,
     "Foreign key '%s' references invalid column '%s' in referenced table '%s'."},
    {1776, 16,
     "There are no primary or candidate keys in the referenced table '%s' that match the "
     "referencing column list in the foreign key '%s'."},
    {1778, 16,
     "Column '%s' is not the same data type as referencing column '%s' in foreign key "
     "'%s'."},
    {1779, 16, "Table '%s' already has a primary key defined on it."},
    {1781, 16, "Column already has a DEFAULT bound to it."},
    {1785, 16,
     "Introducing FOREIGN KEY constraint '%s' on table '%s' may cause cycles or multiple "
     "cascade paths."},
    {1801, 16, "Database '%s' already exists. Choose a different database name."},
    {1802, 16,
     "CREATE DATABASE failed. Some file names listed could not be created. Check related "
     "errors."},
    {1902, 16,
     "Cannot create more than one clustered index on %s '%s'. Drop the existing "
     "clustered index '%s' before creating another."},
    {1904, 16,
     "The index '%s' on table '%s' has %d columns in the key list. The maximum limit for "
     "index key column list is %d."},
    {1908, 16,
     "Column '%s' is partitioning column of the index '%s'. Partition columns for a "
     "unique index must be a subset of the index key."},
    {1909, 16,
     "Cannot use duplicate column names in index. Column name '%s' listed more than "
     "once."},
    {1911, 16, "Column name '%s' does not exist in the target table or view."},
    {1913, 16,
     "The operation failed because an index or statistics with name '%s' already exists "
     "on table '%s'."},
    {1919, 16,
     "Column '%s' in table '%s' is of a type that is invalid for use as a key column in "
     "an index."},
    {1934, 16,
     "%s failed because the following SET options have incorrect settings: '%s'. Verify "
     "that SET options are correct for use with indexed views and/or indexes on computed "
     "columns and/or filtered indexes."},
    {2020, 16,
     "The dependencies reported for entity \"%s\" might not include references to all "
     "columns."},
    {2108, 15, "Cannot %s on '%s' as the target is not in the current database."},
    {2526, 16,
     "Incorrect DBCC statement. Check the documentation for the correct DBCC syntax and "
     "options."},
    {2528, 0,
     "DBCC execution completed. If DBCC printed error messages, contact your system "
     "administrator."},
    {2571, 14, "User '%s' does not have permission to run DBCC %s."},
    {2601, 14,
     "Cannot insert duplicate key row in object '%s' with unique index '%s'. The "
     "duplicate key value is %s."},
    {2627, 14,
     "Violation of %s constraint '%s'. Cannot insert duplicate key in object '%s'. The "
     "duplicate key value is %s."},
    {2628, 16,
     "String or binary data would be truncated in table '%s', column '%s'. Truncated "
     "value: '%s'."},
    {2705, 16,
     "Column names in each table must be unique. Column name '%s' in table '%s' is "
     "specified more than once."},
    {2714, 16, "There is already an object named '%s' in the database."},
    {2715, 16, "Column, parameter, or variable #%d: Cannot find data type %s."},
    {2716, 16,
     "Column, parameter, or variable #%d: Cannot specify a column width on data type "
     "%s."},
    {2717, 15, "The size (%d) given to the %s '%s' exceeds the maximum allowed (%d)."},
    {2729, 16,
     "Procedure '%s' group number 1 already exists in the database. Choose another "
     "procedure name."},
    {2744, 16,
     "Multiple identity columns specified for table '%s'. Only one identity column per "
     "table is allowed."},
    {2749, 16,
     "Identity column '%s' must be of data type int, bigint, smallint, tinyint, or "
     "decimal or numeric with a scale of 0, unencrypted, and constrained to be "
     "nonnullable."},
    {2750, 16,
     "Column or parameter #%d: Specified column precision %d is greater than the maximum "
     "precision of %d."},
    {2751, 16,
     "Column or parameter #%d: Specified column scale %d is greater than the specified "
     "precision of %d."},
    {2754, 16,
     "Error severity levels greater than %d can only be specified by members of the "
     "sysadmin role, using the WITH LOG option."},
    {2760, 16,
     "The specified schema name \"%s\" either does not exist or you do not have "
     "permission to use it."},
    {2812, 16, "Could not find stored procedure '%s'."},
    {3013, 16, "%s is terminating abnormally."},
    {3201, 16, "Cannot open backup device '%s'. Operating system error %s."},
    {3609, 16, "The transaction ended in the trigger. The batch has been aborted."},
    {3616, 16,
     "An error was raised during trigger execution. The batch has been aborted and the "
     "user transaction, if any, has been rolled back."},
    {3621, 0, "The statement has been terminated."},
    {3701, 11,
     "Cannot %s the %s '%s', because it does not exist or you do not have permission."},
    {3702, 16, "Cannot drop %s \"%s\" because it is currently in use."},
    {3705, 16, "Cannot use DROP %s with '%s' because '%s' is a %s. Use %s."},
    {3723, 16,
     "An explicit DROP INDEX is not allowed on index '%s'. It is being used for %s "
     "constraint enforcement."},
    {3725, 16,
     "The constraint '%s' is being referenced by table '%s', foreign key constraint "
     "'%s'."},
    {3726, 16,
     "Could not drop object '%s' because it is referenced by a FOREIGN KEY constraint."},
    {3727, 16, "Could not drop constraint. See previous errors."},
    {3728, 16, "'%s' is not a constraint."},
    {3729, 16, "Cannot %s '%s' because it is being referenced by object '%s'."},
    {3732, 16,
     "Cannot drop type '%s' because it is being referenced by object '%s'. There may be "
     "other objects that reference this type."},
    {3733, 16, "Constraint '%s' does not belong to table '%s'."},
    {3902, 16, "The COMMIT TRANSACTION request has no corresponding BEGIN TRANSACTION."},
    {3903, 16,
     "The ROLLBACK TRANSACTION request has no corresponding BEGIN TRANSACTION."},
    {3906, 16, "Failed to update database \"%s\" because the database is read-only."},
    {3910, 16, "Transaction context in use by another session."},
    {3914, 16,
     "The data type \"%s\" is invalid for transaction names or savepoint names. Allowed "
     "data types are char, varchar, nchar, varchar(max), nvarchar, and nvarchar(max)."},
    {3915, 16, "Cannot use the ROLLBACK statement within an INSERT-EXEC statement."},
    {3930, 16,
     "The current transaction cannot be committed and cannot support operations that "
     "write to the log file. Roll back the transaction."},
    {3931, 16,
     "The current transaction cannot be committed and cannot be rolled back to a "
     "savepoint. Roll back the entire transaction."},
    {3998, 16,
     "Uncommittable transaction is detected at the end of the batch. The transaction is "
     "rolled back."},
    {4002, 16,
     "The incoming tabular data stream (TDS) protocol stream is incorrect. The stream "
     "ended unexpectedly."},
    {4004, 16,
     "Unicode data in a Unicode-only collation or ntext data cannot be sent to clients "
     "using DB-Library (such as ISQL) or ODBC version 3.7 or earlier."},
    {4060, 11, "Cannot open database \"%s\" requested by the login. The login failed."},
    {4063, 11,
     "Cannot open database \"%s\" that was requested by the login. Using the user "
     "default database \"%s\" instead."},
    {4104, 16, "The multi-part identifier \"%s\" could not be bound."},
    {4108, 15, "Windowed functions can only appear in the SELECT or ORDER BY clauses."},
    {4112, 15, "The function '%s' must have an OVER clause with ORDER BY."},
    {4121, 16,
     "Cannot find either column \"%s\" or the user-defined function or aggregate \"%s\", "
     "or the name is ambiguous."},
    {4145, 15,
     "An expression of non-boolean type specified in a context where a condition is "
     "expected, near '%s'."},
    {4405, 16,
     "View or function '%s' is not updatable because the modification affects multiple "
     "base tables."},
    {4406, 16,
     "Update or insert of view or function '%s' failed because it contains a derived or "
     "constant field."},
    {4502, 16,
     "View or function '%s' has more column names specified than columns defined."},
    {4506, 10,
     "Column names in each view or function must be unique. Column name '%s' in view or "
     "function '%s' is specified more than once."},
    {4511, 16,
     "Create View or Function failed because no column name was specified for column "
     "%d."},
    {4606, 16, "Granted or revoked privilege %s is not compatible with object."},
    {4701, 16,
     "Cannot find the object \"%s\" because it does not exist or you do not have "
     "permissions."},
    {4708, 16, "Could not truncate object '%s' because it is not a table."},
    {4712, 16,
     "Cannot truncate table '%s' because it is being referenced by a FOREIGN KEY "
     "constraint."},
    {4804, 21,
     "While reading current row from host, a premature end-of-message was "
     "encountered--an incoming data stream was interrupted when the server expected to "
     "see more data."},
    {4807, 21,
     "The bulk copy client sent a row length of %d. This size is not valid. The maximum "
     "row size is %d."},
    {4815, 16, "Received an invalid column length from the bcp client for colid %d."},
    {4816, 16, "Invalid column type from bcp client for colid %d."},
    {4819, 16,
     "Cannot bulk load. The bulk data stream was incorrectly specified as sorted or the "
     "data violates the uniqueness constraint imposed by the target table."},
    {4832, 16, "Bulk load: An unexpected end of file was encountered in the data file."},
    {4860, 16,
     "Cannot bulk load. The file \"%s\" does not exist or you don't have file access "
     "rights."},
    {4861, 16,
     "Cannot bulk load because the file \"%s\" could not be opened. Operating system "
     "error code %s."},
    {4864, 16,
     "Bulk load data conversion error (type mismatch or invalid character for the "
     "specified codepage) for row %lld, column %d (%s)."},
    {4866, 16,
     "The bulk load failed. The column is too long in the data file for row %lld, column "
     "%d. Verify that the field terminator and row terminator are specified correctly."},
    {4867, 16,
     "Bulk load data conversion error (overflow) for row %lld, column %d (%s)."},
    {4891, 16, "Insert bulk failed due to a schema change of the target table."},
    {4901, 16,
     "ALTER TABLE only allows columns to be added that can contain nulls, or have a "
     "DEFAULT definition specified, or the column being added is an identity or "
     "timestamp column, or alternatively if none of the previous conditions are "
     "satisfied the table must be empty. Column '%s' cannot be added to non-empty table "
     "'%s' because it does not satisfy these conditions."},
    {4902, 16,
     "Cannot find the object \"%s\" because it does not exist or you do not have "
     "permissions."},
    {4922, 16, "%s %s failed because one or more objects access this column."},
    {4924, 16, "%s failed because column '%s' does not exist in table '%s'."},
    {4928, 16, "Cannot alter column '%s' because it is '%s'."},
    {5011, 14,
     "User does not have permission to alter database '%s', the database does not exist, "
     "or the database is not in a state that allows access checks."},
    {5074, 16, "The %s '%s' is dependent on %s '%s'."},
    {5701, 0, "Changed database context to '%s'."},
    {5703, 0, "Changed language setting to %s."},
    {6004, 14, "User does not have permission to perform this action."},
    {6101, 16, "Session ID %d is not a valid session ID."},
    {6104, 16, "Cannot use KILL to kill your own process."},
    {6106, 16, "Process ID %d is not an active process ID."},
    {6401, 16,
     "Cannot roll back %s. No transaction or savepoint of that name was found."},
    {7339, 16,
     "OLE DB provider '%s' for linked server '%s' returned invalid data for column "
     "'%s'."},
    {7625, 16, "Full-text table or index '%s' is not available."},
    {8003, 16,
     "The incoming request has too many parameters. The server supports a maximum of %d "
     "parameters. Reduce the number of parameters and resend the request."},
    {8009, 16,
     "The incoming tabular data stream (TDS) remote procedure call (RPC) protocol stream "
     "is incorrect. Parameter %d (\"%s\"): Data type 0x%s is unknown."},
    {8016, 16,
     "The incoming tabular data stream (TDS) remote procedure call (RPC) protocol stream "
     "is incorrect. Parameter %d (\"%s\"): Data type 0x%s has an invalid data length or "
     "metadata length."},
    {8023, 16,
     "The incoming tabular data stream (TDS) remote procedure call (RPC) protocol stream "
     "is incorrect. Parameter %d (\"%s\"): The supplied value is not a valid instance of "
     "data type %s. Check the source data for invalid values. An example of an invalid "
     "value is data of numeric type with scale greater than precision."},
    {8101, 16,
     "An explicit value for the identity column in table '%s' can only be specified when "
     "a column list is used and IDENTITY_INSERT is ON."},
    {8102, 16, "Cannot update identity column '%s'."},
    {8106, 16,
     "Table '%s' does not have the identity property. Cannot perform SET operation."},
    {8107, 16,
     "IDENTITY_INSERT is already ON for table '%s'. Cannot perform SET operation for "
     "table '%s'."},
    {8110, 16, "Cannot add multiple PRIMARY KEY constraints to table '%s'."},
    {8111, 16, "Cannot define PRIMARY KEY constraint on nullable column in table '%s'."},
    {8112, 16, "Cannot add more than one clustered index for constraints on table '%s'."},
    {8114, 16, "Error converting data type %s to %s."},
    {8115, 16, "Arithmetic overflow error converting %s to data type %s."},
    {8116, 16, "Argument data type %s is invalid for argument %d of %s function."},
    {8117, 16, "Operand data type %s is invalid for %s operator."},
    {8120, 16,
     "Column '%s' is invalid in the select list because it is not contained in either an "
     "aggregate function or the GROUP BY clause."},
    {8121, 16,
     "Column '%s' is invalid in the HAVING clause because it is not contained in either "
     "an aggregate function or the GROUP BY clause."},
    {8124, 16,
     "Multiple columns are specified in an aggregated expression containing an outer "
     "reference. If an expression being aggregated contains an outer reference, then "
     "that outer reference must be the only column referenced in the expression."},
    {8127, 16,
     "Column \"%s\" is invalid in the ORDER BY clause because it is not contained in "
     "either an aggregate function or the GROUP BY clause."},
    {8133, 16,
     "At least one of the result expressions in the CASE specification must be an "
     "expression other than the NULL constant."},
    {8134, 16, "Divide by zero error encountered."},
    {8143, 16, "Parameter '%s' was supplied multiple times."},
    {8144, 16, "Procedure or function %s has too many arguments specified."},
    {8145, 16, "%s is not a parameter for procedure %s."},
    {8146, 16, "Procedure %s has no parameters and arguments were supplied."},
    {8152, 16, "String or binary data would be truncated."},
    {8153, 0,
     "Warning: Null value is eliminated by an aggregate or other SET operation."},
    {8155, 16, "No column name was specified for column %d of '%s'."},
    {8156, 16, "The column '%s' was specified multiple times for '%s'."},
    {8158, 16, "'%s' has more columns than were specified in the column list."},
    {8159, 16, "'%s' has fewer columns than were specified in the column list."},
    {8162, 16,
     "The formal parameter \"%s\" was not declared as an OUTPUT parameter, but the "
     "actual parameter passed in requested output."},
    {8169, 16,
     "Conversion failed when converting from a character string to uniqueidentifier."},
    {8170, 16, "Insufficient result space to convert uniqueidentifier value to char."},
    {8178, 16,
     "The parameterized query '%s' expects the parameter '%s', which was not supplied."},
    {8179, 16, "Could not find prepared statement with handle %d."},
    {8180, 16, "Statement(s) could not be prepared."},
    {8623, 16,
     "The query processor ran out of internal resources and could not produce a query "
     "plan."},
    {8624, 16,
     "Internal Query Processor Error: The query processor could not produce a query "
     "plan."},
    {9803, 16, "Invalid data for type \"%s\"."},
    {9809, 16, "The style %d is not supported for conversions from %s to %s."},
    {9810, 16, "The datepart %s is not supported by date function %s for data type %s."},
    {10054, 20, "The connection was forcibly closed by the remote host."},
    {10700, 16, "The table-valued parameter \"%s\" is READONLY and cannot be modified."},
    {10709, 16,
     "The number of columns for each row in a table value constructor must be the same."},
    {10738, 15,
     "The number of row value expressions in the INSERT statement exceeds the maximum "
     "allowed number of %d row values."},
    {10741, 15, "A TOP can not be used in the same query or sub-query as a OFFSET."},
    {11555, 15,
     "The parameter '%s' has been declared as NOT NULL. NOT NULL parameters are only "
     "supported with natively compiled modules."},
    {11717, 15, "NEXT VALUE FOR function does not support the PARTITION BY clause."},
    {15009, 16,
     "The object '%s' does not exist in database '%s' or is invalid for this operation."},
    {15151, 16,
     "Cannot %s the %s '%s', because it does not exist or you do not have permission."},
    {15225, 11,
     "No item by the name of '%s' could be found in the current database '%s', given "
     "that @itemtype was input as '%s'."},
    {15247, 16, "User does not have permission to perform this action."},
    {15248, 11,
     "Either the parameter @objname is ambiguous or the claimed @objtype (%s) is wrong."},
    {15404, 16, "Could not obtain information about Windows group/user '%s'."},
    {15600, 15, "An invalid parameter or option was specified for procedure '%s'."},
    {17809, 20,
     "Could not connect because the maximum number of '%d' user connections has already "
     "been reached."},
    {17828, 20,
     "The prelogin packet used to open the connection is structurally invalid; the "
     "connection has been closed."},
    {17830, 20,
     "Network error while establishing a connection; the connection has been closed."},
    {17832, 20,
     "The login packet used to open the connection is structurally invalid; the "
     "connection has been closed."},
    {17835, 20,
     "Encryption is required to connect to this server but the client library does not "
     "support encryption; the connection has been closed."},
    {17836, 20,
     "Length specified in network packet payload did not match number of bytes read; the "
     "connection has been closed."},
    {18456, 14, "Login failed for user '%s'."},
    {22051, 16, "The client connection security context could not be impersonated."},
    {40515, 15,
     "Reference to database and/or server name in '%s' is not supported by fullrackd."},
};

const unsigned sqlerr_table_count = sizeof sqlerr_table / sizeof sqlerr_table[0];
