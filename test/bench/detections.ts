/**
 * The CPU time of matching events against Sigma rules in one pass, with 37, 370 and 3,700 rules. Rules are read from a
 * folder, and multiplied by changing their literals. Events have 600 bytes and are generated, except one in 100, which
 * is an event of the second folder.
 *
 *     node bin/node.mjs test/bench/detections.ts RULES_FOLDER EVENTS_FOLDER [OUT_FOLDER]
 *
 * With OUT_FOLDER the rules, events and matches are written there, to measure other programs with them.
 */
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fieldTables } from '../../subjects/detections/fields/index.ts';
import { readRules } from '../../subjects/detections/read.ts';
import { compileRuleSet, type DeployedRule } from '../../subjects/detections/rule-set.ts';
import { jsonObjects } from '../cases/json-objects.ts';
import { seeded } from '../cases/random.ts';

const [rulesFolder, eventsFolder, out] = process.argv.slice(2);
if (rulesFolder === undefined || eventsFolder === undefined) {
  console.error('usage: node bin/node.mjs test/bench/detections.ts RULES_FOLDER EVENTS_FOLDER [OUT_FOLDER]');
  process.exit(2);
}
const counts = [37, 370, 3_700] as const;
const maxCount = counts[2];
const random = seeded(7);
const pick = <Each>(from: readonly Each[]): Each => from[random(from.length)] as Each;

const rulesIn = (folder: string): string[] =>
  globSync('**/*.yml', { cwd: folder })
    .sort()
    .map((file) => readFileSync(join(folder, file), 'utf8'))
    .filter((text) => /^detection:/m.test(text) && readRules(text).errors.length === 0);

/** A rule of the same shape: the end of each quoted word is replaced. */
const varied = (text: string, copy: number): string => {
  const [head = '', tail = ''] = text.split(/^detection:/m);
  const end = tail.search(/^\S/m);
  const other = tail
    .slice(0, end < 0 ? tail.length : end)
    .replaceAll(/^(?!\s*condition:).*$/gm, (line) =>
      line.replace(
        /(?<![A-Za-z|%])([A-Za-z]{4,})(?=[^A-Za-z:]*['"]?\s*$)/,
        (word) => `${word.slice(0, -2)}${'qxzjkvw'[copy % 7]}${copy}`,
      ),
    );
  return `${head.replace(/^id: .*$/m, (line) => `${line.slice(0, -2)}${String(copy).padStart(2, '0')}`)}detection:${other}`;
};

/** Flattened, as NXLog and other shippers send it. */
const flat = (event: unknown): object | undefined => {
  const { System, EventData } =
    (event as { Event?: { System?: Record<string, unknown>; EventData?: Record<string, unknown> } }).Event ?? {};
  if (System === undefined) return undefined;
  const { EventID, Channel, Computer } = System;
  return { EventID, Channel, Computer, ...EventData };
};
const attacks = globSync('**/*.json', { cwd: eventsFolder })
  .sort()
  .flatMap((file) => jsonObjects(readFileSync(join(eventsFolder, file), 'utf8')))
  .map(flat)
  .filter((event) => event !== undefined);

const hex = (length: number): string => Array.from({ length }, () => random(16).toString(16)).join('');
const images = [
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
  'C:\\Program Files\\Contoso\\Agent\\bin\\agent.exe',
  'C:\\Program Files (x86)\\Vendor\\Suite\\updater.exe',
  'C:\\Program Files\\Git\\cmd\\git.exe',
  'C:\\Program Files\\Microsoft VS Code\\Code.exe',
  'C:\\Program Files\\Contoso\\Desk\\desk.exe',
  'C:\\Windows\\System32\\backgroundTaskHost.exe',
  'C:\\Windows\\System32\\taskhostw.exe',
];
const folders = images.map((path) => path.slice(0, path.lastIndexOf('\\')));
const image = (): string => pick(images);
const base = (id: number) => ({
  EventID: id,
  Channel: 'Microsoft-Windows-Sysmon/Operational',
  Computer: `ws-${random(500)}.contoso.example`,
  UtcTime: `2026-03-01 10:${10 + random(49)}:00.${random(999)}`,
  ProcessGuid: `{${hex(8)}-${hex(4)}-${hex(4)}}`,
  ProcessId: random(30_000),
  User: `CONTOSO\\user${random(900)}`,
});
const shapes: readonly (() => object)[] = [
  ...Array.from({ length: 6 }, () => () => ({
    ...base(1),
    Image: image(),
    CommandLine: `"${image()}" --type=renderer --field-trial-handle=${hex(12)} --lang=en -n ${random(99)}`,
    ParentImage: image(),
    ParentCommandLine: `${image()} -k netsvcs -p -s Schedule`,
    IntegrityLevel: 'Medium',
    Hashes: `SHA256=${hex(64)}`,
    CurrentDirectory: `${pick(folders)}\\`,
  })),
  () => ({
    ...base(3),
    Image: image(),
    Protocol: 'tcp',
    Initiated: 'true',
    SourceIp: `10.1.${random(255)}.${random(255)}`,
    SourcePort: random(60_000),
    DestinationIp: `192.0.2.${random(255)}`,
    DestinationPort: 443,
    DestinationHostname: `host${random(99)}.contoso.example`,
  }),
  () => ({
    ...base(11),
    Image: image(),
    TargetFilename: `C:\\Users\\ann\\Documents\\report-${random(9_999)}.docx`,
    CreationUtcTime: '2026-03-01 10:00:00.000',
  }),
  () => ({
    ...base(13),
    EventType: 'SetValue',
    Image: image(),
    TargetObject: `HKLM\\SOFTWARE\\Contoso\\Agent\\Counters\\${random(999)}`,
    Details: `DWORD (0x${hex(8)})`,
  }),
  () => ({
    EventID: 4624,
    Channel: 'Security',
    Computer: `dc-${random(3)}`,
    SubjectUserName: `WS-${random(500)}$`,
    TargetUserName: `user${random(900)}`,
    LogonType: 3,
    IpAddress: `10.1.${random(255)}.${random(255)}`,
    AuthenticationPackageName: 'Kerberos',
    LogonProcessName: 'Kerberos',
  }),
];
/** The rules in their deployed form. */
const deployed = (chosen: readonly string[]): DeployedRule[] =>
  chosen.flatMap((text) => readRules(text).documents).map((document) => ({ id: document.id, version: 1, document }));

/** Excludes rules that match benign events, so that one event in a hundred matches. */
const quiet = Array.from({ length: 3_000 }, () => pick(shapes)());
const withoutNoise = (chosen: readonly string[]): string[] => {
  const set = compileRuleSet(deployed(chosen), fieldTables);
  const noisy = new Set(quiet.flatMap((event) => set.match(event).map(({ ruleId }) => ruleId)));
  return chosen.filter((text) => !noisy.has(/^id: *(\S+)/m.exec(text)?.[1] ?? ''));
};
const originals = withoutNoise(rulesIn(rulesFolder)).slice(0, 370);
const copies = Array.from({ length: 11 }, (_, copy) => originals.map((text) => varied(text, copy + 1))).flat();
const texts = [...originals, ...withoutNoise(copies)].slice(0, maxCount);

const padded = (event: object): string => {
  const text = JSON.stringify(event);
  return text.length >= 598 ? text : JSON.stringify({ ...event, Note: 'x'.repeat(Math.max(0, 590 - text.length)) });
};
const events = Array.from({ length: 50_000 }, (_, at) =>
  at % 100 === 50 ? JSON.stringify(pick(attacks)) : padded(pick(shapes)()),
);

const cpuMs = (work: () => void): number => {
  const { user, system } = process.cpuUsage();
  work();
  const spent = process.cpuUsage({ user, system });
  return (spent.user + spent.system) / 1_000;
};

console.log(`${events.length} events of ${Math.round(events.join('').length / events.length)} bytes, rounds: 5, least`);
console.log(
  '| rules | read, ms | compile, ms | events/s | µs an event | of that matching | matches | looked at, an event |',
);
console.log('| --- | --- | --- | --- | --- | --- | --- | --- |');
for (const count of counts) {
  // For few rules, spread over all originals, so that all log sources are included.
  const chosen =
    count < originals.length
      ? texts.slice(0, originals.length).filter((_, at) => at % Math.round(originals.length / count) === 0)
      : texts.slice(0, count);
  let rules: DeployedRule[] = [];
  const readMs = cpuMs(() => {
    rules = deployed(chosen);
  });
  let set = compileRuleSet([], fieldTables);
  const compileMs = cpuMs(() => {
    set = compileRuleSet(rules, fieldTables);
    for (const text of events.slice(0, 500)) set.match(JSON.parse(text) as object);
  });
  const matched: string[] = [];
  let checkedCount = 0;
  for (const text of events) {
    const event = set.createEvent(JSON.parse(text) as object);
    checkedCount += set.candidates(event).checked;
  }
  for (const [at, text] of events.entries())
    for (const { ruleId } of set.match(JSON.parse(text) as object)) matched.push(`${at} ${ruleId}`);
  const minCpuMs = (work: () => void): number =>
    Math.min(...Array.from({ length: Number(process.env['ROUNDS'] ?? 5) }, () => cpuMs(work)));
  const allMs = minCpuMs(() => {
    for (const text of events) set.match(JSON.parse(text) as object);
  });
  const readOnlyMs = minCpuMs(() => {
    for (const text of events) set.createEvent(JSON.parse(text) as object);
  });
  const each = (ms: number): string => ((ms * 1_000) / events.length).toFixed(1);
  console.log(
    `| ${rules.length} | ${readMs.toFixed(0)} | ${compileMs.toFixed(0)} | ${Math.round((events.length * 1_000) / allMs)} | ${each(allMs)} | ${each(allMs - readOnlyMs)} | ${matched.length} | ${(checkedCount / events.length).toFixed(2)} |`,
  );
  if (out === undefined) continue;
  mkdirSync(join(out, `rules-${count}`), { recursive: true });
  for (const [at, text] of chosen.entries()) writeFileSync(join(out, `rules-${count}`, `${at}.yml`), text);
  writeFileSync(join(out, `matches-${count}.txt`), matched.join('\n'));
}
if (out !== undefined) writeFileSync(join(out, 'events.ndjson'), `${events.join('\n')}\n`);
