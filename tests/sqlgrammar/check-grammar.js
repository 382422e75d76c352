#!/usr/bin/env node
/*
 * check-grammar FILE... - parse each file, batch by batch, with a T-SQL grammar that is not ours.
 *
 * fullrackd accepts its own subset only, so that it accepts a script says little; this grammar knows all of T-SQL.
 * What the grammar lets pass and a server gets wrong is looked for besides (wrongOutput).
 * Needs the modules of package.json (npm install in this folder).
 */
"use strict";
const fs = require("fs");
const { CommonTokenStream, CharStreams } = require("antlr4ts");
const tsql = require("antlr4ts-sql");

/* The grammar is written in upper case and compares letters as they are. */
class UpperStream {
    constructor(text) {
        this.inner = CharStreams.fromString(text);
    }
    LA(i) {
        const c = this.inner.LA(i);
        return c >= 97 && c <= 122 ? c - 32 : c;
    }
    consume() { this.inner.consume(); }
    mark() { return this.inner.mark(); }
    release(m) { this.inner.release(m); }
    get index() { return this.inner.index; }
    seek(i) { this.inner.seek(i); }
    get size() { return this.inner.size; }
    get sourceName() { return this.inner.sourceName; }
    getText(interval) { return this.inner.getText(interval); }
}

/* Of GRANT the grammar knows one right at a time, and UPDATE is none of its: the list is not what it can judge. */
const oneRight = text => text.replace(/\bGRANT\s+[A-Z]+(\s*,\s*[A-Z]+)*\s+ON\b/g, "GRANT SELECT ON");

/* Of BACKUP the grammar has MAXTRANSFER, where the servers have MAXTRANSFERSIZE. */
const transferSize = text => text.replace(/\bMAXTRANSFERSIZE\b/g, "MAXTRANSFER");

function parse(text, name, firstLine) {
    const errors = [];
    const listener = {
        syntaxError: (recognizer, symbol, line, column, message) =>
            errors.push(`${name}:${firstLine + line - 1}:${column + 1}: ${message}`),
    };
    const lexer = new tsql.TSqlLexer(new UpperStream(transferSize(oneRight(text))));
    lexer.removeErrorListeners();
    lexer.addErrorListener(listener);
    const parser = new tsql.TSQLGrammar.TSqlParser(new CommonTokenStream(lexer));
    parser.removeErrorListeners();
    parser.addErrorListener(listener);
    parser.tsql_file();
    return errors;
}

function batches(text) {
    const out = [];
    let lines = [], first = 1;
    text.split("\n").forEach((line, i) => {
        if (/^\s*GO\s*;?\s*$/i.test(line)) {
            out.push({ text: lines.join("\n"), first });
            lines = [];
            first = i + 2;
        } else {
            lines.push(line);
        }
    });
    out.push({ text: lines.join("\n"), first });
    return out.filter((b) => b.text.trim() !== "");
}

/*
 * UPDATE alias ... OUTPUT inserted.x ... FROM t AS alias: when Babelfish 4.3 makes the statement's plan anew (the table was vacuumed, an
 * index came), its OUTPUT names a row of t that was not changed.  An alias is what has no schema in front.
 */
function wrongOutput(text, name, firstLine) {
    const blank = (comment) => comment.replace(/[^\n]/g, " ");
    let line = firstLine;
    const errors = [];
    for (const statement of text.replace(/\/\*[^]*?\*\/|--.*/g, blank).split(";")) {
        const m = /\b(UPDATE|DELETE)\s+(FROM\s+)?(\w+|\[\w+\])\s[^]*\bOUTPUT\s+(inserted|deleted)\s*\./i.exec(statement);
        if (m !== null)
            errors.push(`${name}:${line + statement.slice(0, m.index).split("\n").length - 1}: ${m[1]} of the alias ${m[3]} with OUTPUT`);
        line += statement.split("\n").length - 1;
    }
    return errors;
}

let errors = [], count = 0;
if (parse("SELEC 1 FORM x;", "self test", 1).length === 0) {
    console.error("the grammar accepts nonsense: it checks nothing");
    process.exit(1);
}
if (wrongOutput("SELECT 1;\nUPDATE q SET a = 1 /* ; */\nOUTPUT inserted.a FROM dbo.t AS q;", "self test", 1)[0] !== "self test:2: UPDATE of the alias q with OUTPUT" ||
    wrongOutput("UPDATE q SET a = 1 FROM dbo.t AS q; UPDATE dbo.t SET a = 1 OUTPUT inserted.a; EXEC dbo.p @x OUTPUT;", "self test", 1).length > 0) {
    console.error("an alias with OUTPUT is not known");
    process.exit(1);
}
for (const name of process.argv.slice(2)) {
    /* a variable of a run file's phase stands for a name, or in a text for anything */
    for (const b of batches(fs.readFileSync(name, "utf8").replace(/\$\(\w+\)/g, "[x]"))) {
        count++;
        errors = errors.concat(parse(b.text, name, b.first), wrongOutput(b.text, name, b.first));
    }
}
errors.forEach((e) => console.log(e));
console.log(`${count - errors.length} passed, ${errors.length} failed`);
process.exit(errors.length === 0 && count > 0 ? 0 : 1);
