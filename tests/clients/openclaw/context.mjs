// Prints the messages of a session's file that OpenClaw would send to its model, as JSON.
//   context.mjs SDK FILE
import fs from "node:fs";
const [sdk, file] = process.argv.slice(2);
const { parseSessionEntries, migrateSessionEntries, buildSessionContext } = await import(sdk);
const entries = parseSessionEntries(fs.readFileSync(file, "utf8"));
migrateSessionEntries(entries);
console.log(JSON.stringify(buildSessionContext(entries.slice(1)).messages));
