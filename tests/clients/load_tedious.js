// load_tedious.js - load a file delimited by bars with tedious' bulk load, and say how many rows: what tests/bench/bench.py measures.
//
//   node load_tedious.js PORT TABLE FILE COLUMNS [tls]     COLUMNS: [[name, T-SQL type], ...]; password in FULLRACK_PASSWORD
'use strict';
const fs = require('fs');
const { Connection, TYPES } = require('tedious');

const [port, table, file, columns, tls] = process.argv.slice(2);
const kinds = {
  tinyint: [TYPES.TinyInt, Number], smallint: [TYPES.SmallInt, Number], int: [TYPES.Int, Number], bigint: [TYPES.BigInt, BigInt],
  decimal: [TYPES.Decimal, Number], date: [TYPES.Date, (text) => new Date(text)],
  datetime: [TYPES.DateTime, (text) => new Date(text + 'Z')], datetime2: [TYPES.DateTime2, (text) => new Date(text + 'Z')],
  char: [TYPES.Char, String], varchar: [TYPES.VarChar, String], nvarchar: [TYPES.NVarChar, String],
};

async function* rowsOf(readers) {
  let rest = '';
  for await (const chunk of fs.createReadStream(file, { encoding: 'utf8', highWaterMark: 1 << 20 })) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop();
    for (const line of lines) {
      const fields = line.split('|');
      for (let i = 0; i < readers.length; i++) fields[i] = readers[i](fields[i]);
      yield fields;
    }
  }
}

const connection = new Connection({
  server: '127.0.0.1',
  authentication: { type: 'default', options: { userName: 'sa', password: process.env.FULLRACK_PASSWORD } },
  options: { port: Number(port), database: 'b', encrypt: tls === 'tls', trustServerCertificate: true, requestTimeout: 0 },
});

function fail(err) {
  console.error(err.message);
  process.exit(1);
}

connection.connect((err) => {
  if (err) fail(err);
  const load = connection.newBulkLoad(table, (failed, count) => {
    if (failed) fail(failed);
    console.log(`${count} rows copied`);
    connection.close();
  });
  const readers = [];
  for (const [name, kind] of JSON.parse(columns)) {
    const [, base, a, b] = /^(\w+)(?:\((\d+)(?:,(\d+))?\))?$/.exec(kind);
    const [type, read] = kinds[base];
    const size = base === 'decimal' ? { precision: Number(a), scale: Number(b) } : base === 'datetime2' ? { scale: Number(a) } : a ? { length: Number(a) } : {};
    load.addColumn(name, type, { nullable: false, ...size });
    readers.push(read);
  }
  connection.execBulkLoad(load, rowsOf(readers));
});
