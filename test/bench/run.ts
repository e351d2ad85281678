/**
 * `npm run bench [NAME …]`: figures of several products in one run, as Markdown tables. `README.md` in this folder
 * describes each benchmark, its requirements, and the last results.
 */
import { cpus } from 'node:os';
import { api } from './api.ts';
import { audit } from './audit.ts';
import { land } from './land.ts';
import { liveTail } from './live-tail.ts';
import { pageScrolling } from './page-scrolling.ts';
import { receive } from './receive.ts';
import { remoteWrite } from './remote-write.ts';
import { type Row, table } from './report.ts';
import { standalone } from './standalone.ts';

const sections: Readonly<Record<string, () => Promise<Row[]>>> = {
  api,
  audit,
  receive,
  land,
  standalone,
  'live-tail': liveTail,
  'page-scrolling': pageScrolling,
  'remote-write': remoteWrite,
};

const chosen = process.argv.slice(2);
const unknown = chosen.filter((name) => !(name in sections));
if (unknown.length > 0) {
  console.error(`no benchmark is called ${unknown.join(', ')}; there are: ${Object.keys(sections).join(', ')}`);
  process.exit(2);
}
console.log(
  `${cpus().length} cores, ${cpus()[0]?.model ?? 'unknown'}, Node ${process.version}, ${new Date().toISOString().slice(0, 10)}`,
);
for (const [name, section] of Object.entries(sections)) {
  if (chosen.length > 0 && !chosen.includes(name)) continue;
  console.log(`\n## ${name}\n\n${table(await section())}`);
}
process.exit(0);
