// tedious_tests.js - the npm client tedious against fullrackd: queries, RPC, bulk load, transactions, each type it knows.
//
//   node tedious_tests.js PORT        password in FULLRACK_PASSWORD; prints 'N passed, M failed'
'use strict';
const assert = require('assert');
const { Connection, Request, TYPES } = require('tedious');

const port = Number(process.argv[2]);

function connect(options = {}) {
  return new Promise((resolve, reject) => {
    const connection = new Connection({
      server: '127.0.0.1',
      authentication: { type: 'default', options: { userName: 'sa', password: process.env.FULLRACK_PASSWORD } },
      options: { port, database: 'js', encrypt: false, trustServerCertificate: true, useUTC: true, rowCollectionOnRequestCompletion: false,
                 connectTimeout: 15000, requestTimeout: 30000, ...options },
    });
    connection.connect((err) => (err ? reject(err) : resolve(connection)));
    connection.on('error', () => {});
  });
}

// Rows of all result sets, one list each; parameters: [name, type, value, options].
function run(connection, sql, parameters = [], how = 'execSql') {
  return new Promise((resolve, reject) => {
    const sets = [], outputs = {};
    const request = new Request(sql, (err, count) => (err ? reject(err) : resolve({ sets, outputs, count })));
    request.on('columnMetadata', () => sets.push([]));
    request.on('row', (columns) => sets[sets.length - 1].push(columns.map((c) => c.value)));
    request.on('returnValue', (name, value) => { outputs[name] = value; });
    for (const [name, type, value, options] of parameters) {
      if (options && options.output) request.addOutputParameter(name, type, value, options);
      else request.addParameter(name, type, value, options);
    }
    connection[how](request);
  });
}

const date = (text) => new Date(text);
const guid = '6F9619FF-8B86-D011-B42D-00C04FC964FF';
const long = '\u017elu\u0165ou\u010dk\u00fd \u{1F40E} '.repeat(3000);

// name, T-SQL type, tedious' type with its options, values; compared through JSON, with dates as ISO texts
const types = [
  ['bit', 'bit', TYPES.Bit, {}, [true, false]],
  ['tinyint', 'tinyint', TYPES.TinyInt, {}, [0, 255]],
  ['smallint', 'smallint', TYPES.SmallInt, {}, [-32768, 32767]],
  ['int', 'int', TYPES.Int, {}, [-2147483648, 2147483647]],
  ['bigint', 'bigint', TYPES.BigInt, {}, ['-9223372036854775808', '9223372036854775807']],
  ['real', 'real', TYPES.Real, {}, [0.25, -1.5]],
  ['float', 'float', TYPES.Float, {}, [-1.5e300, 0.1]],
  ['smallmoney', 'smallmoney', TYPES.SmallMoney, {}, [214748.3647, -214748.3648]],
  ['money', 'money', TYPES.Money, {}, [123456789.1234, -0.0001]],
  ['decimal', 'decimal(15,4)', TYPES.Decimal, { precision: 15, scale: 4 }, [12345678901.2345, -0.0001]],
  ['numeric', 'numeric(9,2)', TYPES.Numeric, { precision: 9, scale: 2 }, [1234567.89, 0]],
  ['date', 'date', TYPES.Date, {}, [date('2024-02-29T00:00:00Z'), date('0001-01-01T00:00:00Z')]],
  ['time', 'time(3)', TYPES.Time, { scale: 3 }, [date('1970-01-01T23:59:59.123Z'), date('1970-01-01T00:00:00Z')]],
  ['datetime', 'datetime', TYPES.DateTime, {}, [date('2024-05-31T12:34:56.997Z'), date('1753-01-01T00:00:00Z')]],
  ['smalldatetime', 'smalldatetime', TYPES.SmallDateTime, {}, [date('2024-05-31T12:34:00Z'), date('1900-01-01T00:00:00Z')]],
  ['datetime2', 'datetime2(3)', TYPES.DateTime2, { scale: 3 }, [date('2024-05-31T12:34:56.789Z'), date('0001-01-01T00:00:00Z')]],
  ['datetimeoffset', 'datetimeoffset(3)', TYPES.DateTimeOffset, { scale: 3 }, [date('2024-05-31T12:34:56.789Z')]],
  ['char', 'char(5)', TYPES.Char, { length: 5 }, ['abcde']],
  ['varchar', 'varchar(20)', TYPES.VarChar, { length: 20 }, ['', 'caf\u00e9 "x"']],
  ['varchar(max)', 'varchar(max)', TYPES.VarChar, { length: Infinity }, ['y'.repeat(100000)]],
  ['nchar', 'nchar(4)', TYPES.NChar, { length: 4 }, ['\u65e5\u672c\u8a9e!']],
  ['nvarchar', 'nvarchar(20)', TYPES.NVarChar, { length: 20 }, ['', '\u017elu\u0165 \u{1F600}']],
  ['nvarchar(max)', 'nvarchar(max)', TYPES.NVarChar, { length: Infinity }, [long]],
  ['text', 'text', TYPES.Text, {}, ['old text']],
  ['ntext', 'ntext', TYPES.NText, {}, ['old \u017e text']],
  ['binary', 'binary(3)', TYPES.Binary, { length: 3 }, [Buffer.from([0, 1, 255])]],
  ['varbinary', 'varbinary(10)', TYPES.VarBinary, { length: 10 }, [Buffer.from([]), Buffer.from([222, 173])]],
  ['varbinary(max)', 'varbinary(max)', TYPES.VarBinary, { length: Infinity }, [Buffer.alloc(70000, 7)]],
  ['image', 'image', TYPES.Image, {}, [Buffer.from('image')]],
  ['uniqueidentifier', 'uniqueidentifier', TYPES.UniqueIdentifier, {}, [guid]],
];

const same = (got, expected, what) => assert.strictEqual(JSON.stringify(got), JSON.stringify(expected), what);

const tests = {
  async queries(c) {
    const { sets } = await run(c, "SELECT 1 AS a, N'\u017e' AS b; SELECT CAST(NULL AS int) AS n WHERE 1 = 0; SELECT 2 AS c UNION ALL SELECT 3", [], 'execSqlBatch');
    same(sets, [[[1, '\u017e']], [], [[2], [3]]], 'three results');
  },
  async parametersOfEachType(c) {
    for (const [name, sql, type, options, values] of types) {
      if (type === TYPES.Image || type === TYPES.Text || type === TYPES.NText) continue; // no expressions of these types
      for (const value of [...values, null]) {
        const { sets } = await run(c, 'SELECT @p AS v', [['p', type, value, options]]);
        same(sets[0][0][0], value, `parameter of ${name} (${sql})`);
      }
    }
  },
  async bulkLoadOfEachType(c) {
    for (const [name, sql, type, options, values] of types) {
      await run(c, `DROP TABLE IF EXISTS dbo.b; CREATE TABLE dbo.b (id int NOT NULL, v ${sql} NULL)`, [], 'execSqlBatch');
      const rows = [...values, null].map((v, i) => ({ id: i, v }));
      const count = await new Promise((resolve, reject) => {
        const load = c.newBulkLoad('dbo.b', { keepNulls: true }, (err, n) => (err ? reject(new Error(`${name}: ${err.message}`)) : resolve(n)));
        load.addColumn('id', TYPES.Int, { nullable: false });
        load.addColumn('v', type, { nullable: true, ...options });
        c.execBulkLoad(load, rows);
      });
      same(count, rows.length, `rows of ${name}`);
      const { sets } = await run(c, 'SELECT v FROM dbo.b ORDER BY id');
      same(sets[0].map((r) => r[0]), rows.map((r) => r.v), `bulk load of ${name} (${sql})`);
    }
  },
  async proceduresWithOutput(c) {
    await run(c, 'CREATE OR ALTER PROCEDURE dbo.twice @a int, @b int OUTPUT, @t nvarchar(max) OUTPUT AS BEGIN SET @b = @a * 2; SET @t = @t + @t; SELECT @a AS a; RETURN 7; END',
              [], 'execSqlBatch');
    const { sets, outputs } = await run(c, 'dbo.twice', [['a', TYPES.Int, 21], ['b', TYPES.Int, null, { output: true }],
      ['t', TYPES.NVarChar, long, { output: true, length: Infinity }]], 'callProcedure');
    same(sets, [[[21]]], 'result');
    same(outputs, { b: 42, t: long + long }, 'outputs');
  },
  async preparedStatements(c) {
    const rows = [];
    const request = new Request('SELECT @a + @b', () => {});
    request.addParameter('a', TYPES.Int);
    request.addParameter('b', TYPES.Int);
    request.on('row', (columns) => rows.push(columns[0].value));
    await new Promise((resolve, reject) => {
      request.on('prepared', resolve);
      request.on('error', reject);
      c.prepare(request);
    });
    for (const values of [{ a: 1, b: 2 }, { a: 40, b: 2 }]) {
      await new Promise((resolve, reject) => {
        request.userCallback = (err) => (err ? reject(err) : resolve());
        request.callback = request.userCallback;
        request.once('requestCompleted', resolve);
        c.execute(request, values);
      });
    }
    same(rows, [3, 42], 'sums');
  },
  async transactions(c) {
    const call = (method, ...args) => new Promise((resolve, reject) => c[method]((err) => (err ? reject(err) : resolve()), ...args));
    const count = async () => (await run(c, 'SELECT COUNT(*) FROM dbo.x')).sets[0][0][0];
    await run(c, 'DROP TABLE IF EXISTS dbo.x; CREATE TABLE dbo.x (id int PRIMARY KEY)', [], 'execSqlBatch');
    await call('beginTransaction');
    await run(c, 'INSERT INTO dbo.x VALUES (1)');
    await call('saveTransaction', 's');
    await run(c, 'INSERT INTO dbo.x VALUES (2)');
    same(await count(), 2, 'within');
    await call('rollbackTransaction', 's');
    await call('commitTransaction');
    same(await count(), 1, 'after the savepoint was rolled back and the rest committed');
    await call('beginTransaction');
    await run(c, 'DELETE FROM dbo.x');
    await call('rollbackTransaction');
    same(await count(), 1, 'after a rollback');
    const { sets } = await run(c, 'SELECT @@TRANCOUNT');
    same(sets[0][0][0], 0, 'no transaction left');
  },
  async errors(c) {
    for (const [sql, number, severity] of [['SELECT 1/0', 8134, 16], ['SELECT * FROM nowhere', 208, 16], ["RAISERROR('own', 11, 3)", 50000, 11],
      ['INSERT INTO dbo.x VALUES (1)', 2627, 14], ['SELECT (1', 102, 15], ['SELEC 1', 2812, 16]]) {
      const err = await run(c, sql, [], 'execSqlBatch').then(() => null, (e) => e);
      assert.ok(err, `${sql} fails`);
      same([err.number, err.class], [number, severity], sql);
    }
    same((await run(c, 'SELECT 1')).sets, [[[1]]], 'the session goes on');
  },
  async attention(c) {
    const started = Date.now();
    const err = await new Promise((resolve) => {
      const request = new Request("WAITFOR DELAY '00:00:20'", resolve);
      c.execSqlBatch(request);
      setTimeout(() => c.cancel(), 200);
    });
    assert.ok(err && err.code === 'ECANCEL', `cancelled: ${err}`);
    assert.ok(Date.now() - started < 10000, 'at once');
    same((await run(c, 'SELECT 1')).sets, [[[1]]], 'the session goes on');
  },
  async resetOfASession(c) {
    await run(c, 'SET DATEFIRST 3; CREATE TABLE #t (a int)', [], 'execSqlBatch');
    await new Promise((resolve, reject) => c.reset((err) => (err ? reject(err) : resolve())));
    same((await run(c, "SELECT @@DATEFIRST, OBJECT_ID('tempdb..#t')")).sets[0][0], [7, null], 'as after a login');
  },
};

async function main() {
  let passed = 0, failed = 0;
  const first = await connect({ database: 'master' });
  await run(first, "IF DB_ID('js') IS NULL CREATE DATABASE js", [], 'execSqlBatch');
  first.close();
  for (const tds of ['7_2', '7_3_B', '7_4']) {
    for (const [name, test] of Object.entries(tests)) {
      if (tds === '7_2' && /OfEachType/.test(name)) continue; // date, time and the like came with 7.3
      const c = await connect({ tdsVersion: tds });
      try {
        await test(c);
        passed++;
      } catch (e) {
        failed++;
        console.log(`FAIL ${name} (TDS ${tds}): ${e.message.slice(0, 600)}`);
      }
      c.close();
    }
  }
  console.log(`${passed} passed, ${failed} failed`);
  process.exit(failed ? 1 : 0);
}

main().catch((e) => { console.log(`FAIL ${e.stack}\n0 passed, 1 failed`); process.exit(1); });
