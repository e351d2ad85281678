/** Version ordering, scores, and findings of several reports in any order. */
import { globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import test from 'ava';
import { zipSync } from 'fflate';
import { applyReport } from '../../../subjects/vulnerabilities/apply-report.ts';
import { computeCvssScore } from '../../../subjects/vulnerabilities/cvss.ts';
import { AliasClasses, mergeFindings, type StoredReport } from '../../../subjects/vulnerabilities/findings.ts';
import { indexAdvisories, matchAdvisories } from '../../../subjects/vulnerabilities/match-advisories.ts';
import { assessPriority } from '../../../subjects/vulnerabilities/priority.ts';
import { readImport } from '../../../subjects/vulnerabilities/read-import.ts';
import type { ScannerReport } from '../../../subjects/vulnerabilities/report.ts';
import { findVersionOrder } from '../../../subjects/vulnerabilities/versions.ts';
import { reports } from './reports.ts';

// Comparisons of google/osv-scalibr (Apache-2.0, `osv-versions/LICENSE`).
const tables = globSync(fileURLToPath(new URL('osv-versions/*.txt', import.meta.url))).sort();
const expectedOrders: Readonly<Record<string, number>> = { '<': -1, '=': 0, '>': 1 };

for (const path of tables)
  test(`versions are ordered as in ${basename(path)}`, (t) => {
    const compare = findVersionOrder(basename(path).split('-versions')[0] as string);
    let count = 0;
    for (const line of readFileSync(path, 'utf8').split('\n')) {
      const match = /^(?!\/\/)(\S.*?) ([<>=]) (\S+)$/.exec(line.trim());
      if (match === null) continue;
      const [, left = '', operator = '', right = ''] = match;
      const expected = expectedOrders[operator] as number;
      t.is(Math.sign(compare?.(left, right) ?? Number.NaN), expected, line);
      t.is(Math.sign(compare?.(right, left) ?? Number.NaN), 0 - expected, line);
      count++;
    }
    t.true(count > 0);
  });

test('the order of an unknown ecosystem is not guessed', (t) => {
  t.is(findVersionOrder('Fantasy:1'), undefined);
  const advisory = {
    ids: ['X-1'],
    title: '',
    vectors: [],
    affected: [{ ecosystem: 'Fantasy', name: 'a', ranges: [{ events: [{ introduced: '0' }] }], versions: ['2'] }],
  };
  const item = { name: 'a', version: '1', purl: '', type: '', ecosystem: 'Fantasy' };
  const { findings, problems } = matchAdvisories([item, { ...item, version: '2' }], indexAdvisories([advisory]));
  t.deepEqual(
    findings.map((finding) => finding.package.version),
    ['2'],
  );
  t.is(problems[0]?.path, 'Fantasy');
});

for (const [vector, score] of [
  ['AV:N/AC:L/Au:N/C:P/I:P/A:P', 7.5],
  ['CVSS:3.0/AV:N/AC:H/PR:N/UI:N/S:U/C:L/I:L/A:L', 5.6],
  ['CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H', 9.8],
  ['CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:N/VC:H/VI:H/VA:H/SC:N/SI:N/SA:N', 9.3],
  ['CVSS:3.1/AV:N', undefined],
  ['no vector', undefined],
] as const)
  test(`the score of ${vector} is ${score}`, (t) => {
    t.is(computeCvssScore(vector), score);
  });

const read = (content: object): ScannerReport => {
  const report = readImport([Buffer.from(JSON.stringify(content))], '');
  if ('problem' in report || report.kind !== 'report') throw new Error(JSON.stringify(report));
  return report;
};
const osvScanner = {
  results: [
    {
      source: { path: 'package-lock.json' },
      packages: [
        {
          package: { name: 'left-pad', version: '1.0.0', ecosystem: 'npm' },
          vulnerabilities: [
            { id: 'GHSA-aaaa-bbbb-cccc', aliases: ['CVE-2026-0001'], modified: '2026-01-01T00:00:00Z' },
          ],
        },
      ],
    },
  ],
};

const summarize = (stored: readonly StoredReport[]) =>
  mergeFindings(stored)
    .map(({ id, vulnerability, aliases, sources }) => ({
      id,
      vulnerability,
      aliases,
      scanners: sources.map(({ scanner }) => scanner),
    }))
    .sort((left, right) => (left.id < right.id ? -1 : 1));

test('reports in any order end with the same findings', (t) => {
  const all = [reports.trivy, reports.grype, osvScanner, reports.cyclonedx].map(read);
  const stored = all.map((report, index) => applyReport(undefined, report, index));
  const expected = summarize(stored);
  t.is(expected.length, 4);
  for (const order of [
    [3, 2, 1, 0],
    [1, 3, 0, 2],
    [2, 0, 3, 1],
  ])
    t.deepEqual(summarize(order.map((index) => stored[index] as StoredReport)), expected);
});

const readReport = (content: unknown): ScannerReport => {
  const report = readImport([Buffer.from(JSON.stringify(content))], '');
  if ('problem' in report || report.kind !== 'report') throw new Error(JSON.stringify(report));
  return report;
};

const archive = zipSync({ 'a.json': Buffer.from(JSON.stringify(reports.advisory)), 'b.json': Buffer.from('{"id":') });

const refusalOf = (content: string | Uint8Array): string => {
  const report = readImport([typeof content === 'string' ? Buffer.from(content) : content], '');
  return 'problem' in report ? report.problem : report.kind;
};

for (const [name, content, problem] of [
  [
    'cut short',
    '{"ArtifactName":"a","Results":[{"Target":"b","Vulnerabil',
    /Results\[0\]: the string does not end, at byte 45/,
  ],
  ['without a comma', '{"a":{"b":[1,2 3]}}', /a\.b\[1\]: expected , or \] in the array, at byte 15/],
  ['too deep', `{"components":${'['.repeat(5_000)}`, /values nest deeper than 100, at byte/],
  ['nested too deep in an ignored part', `{"markdown":${'['.repeat(5_000)}`, /values nest deeper than 100, at byte/],
  ['not UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), /not UTF-8, at byte 2/],
  ['a string that does not end', `{"a":"${'x'.repeat(1_000_000)}`, /a: the string does not end, at byte 5/],
  ['a damaged archive', Buffer.from('PK\u0003\u0004 broken'), /archive/],
  ['a truncated archive', archive.subarray(0, archive.length - 60), /archive is damaged/],
  ['a gzip bomb', Buffer.concat(Array(600).fill(gzipSync(Buffer.alloc(1024 * 1024)))), /cannot be decompressed/],
] as const)
  test(`a report that is ${name} is refused with the position`, (t) => {
    t.regex(refusalOf(content), problem);
  });

test('a file of an archive that is not an advisory is reported with the reason', (t) => {
  const advisories = readImport([archive], '');
  t.like(advisories, {
    kind: 'advisories',
    problems: [{ path: 'b.json', message: 'id: the text ends, but a value is expected, at byte 6' }],
  });
});

test('long texts are shortened, and members that would change objects are not read', (t) => {
  const long = `${'ä'.repeat(5_000_000)}`;
  const escaped = '\\u00e4'.repeat(1_000_000);
  const text = `\uFEFF{"bomFormat":"CycloneDX","__proto__":{"name":"x"},"metadata":{"component":{"name":"${long}"}},
    "components":[{"type":"library","name":"${escaped}","version":"1"},{"type":"library","name":"b","version":"${'\\n'.repeat(9_000)}2"}]}`;
  const report = readImport([Buffer.from(text)], '');
  if ('problem' in report || report.kind !== 'report') throw new Error(JSON.stringify(report).slice(0, 500));
  t.is(report.target.name, 'ä'.repeat(1024));
  t.is(report.packages[0]?.name, 'ä'.repeat(1024));
});

test('a report of Trivy that hides vulnerabilities fixes nothing', (t) => {
  const [first] = reports.trivy.Results;
  const hidden = [{ Type: 'vulnerability', Status: 'ignored', Finding: first?.Vulnerabilities[0] }];
  const content = { ...reports.trivy, Results: [{ ...first, ExperimentalModifiedFindings: hidden }] };
  t.like(readReport(content), { isComplete: false });
  t.like(readReport(reports.trivy), { isComplete: true });
});

test('ids that OSV-Scanner groups are one vulnerability', (t) => {
  const { findings } = readReport({
    results: [
      {
        source: { path: 'go.mod', type: 'lockfile' },
        packages: [
          {
            package: { name: 'stdlib', version: '1.20', ecosystem: 'Go' },
            vulnerabilities: [{ id: 'GO-2023-1', modified: '2024-01-01T00:00:00Z' }],
            groups: [{ ids: ['GO-2023-1'], aliases: ['CVE-2023-1', 'GO-2023-1'] }],
          },
        ],
      },
    ],
  });
  t.deepEqual(findings[0]?.ids, ['GO-2023-1', 'CVE-2023-1']);
});

test('statements of a bill of materials are read in addition to its findings', (t) => {
  const { findings, statements } = readReport({
    ...reports.cyclonedx,
    components: [
      { type: 'library', 'bom-ref': 'c1', name: 'lodash', version: '4.17.9', purl: 'pkg:npm/lodash@4.17.9' },
    ],
    vulnerabilities: [
      { id: 'CVE-2026-1', affects: [{ ref: 'c1' }], analysis: { state: 'not_affected', detail: 'not called' } },
    ],
  });
  t.is(findings.length, 1);
  t.deepEqual(statements, [
    { ids: ['CVE-2026-1'], products: ['pkg:npm/lodash@4.17.9'], status: 'not_affected', justification: 'not called' },
  ]);
});

test('ids that any report names together are one vulnerability, also in a cycle', (t) => {
  const classes = new AliasClasses();
  classes.add(['GO-2026-1', 'GHSA-a']);
  classes.add(['CVE-2026-1', 'GO-2026-1']);
  classes.add(['GHSA-a', 'CVE-2026-1', 'GHSA-a']);
  for (const id of ['GO-2026-1', 'GHSA-a', 'CVE-2026-1']) t.is(classes.getCanonical(id), 'CVE-2026-1');
});

test('unknown factors of a priority are shown as unknown, and do not count as low', (t) => {
  const [finding] = mergeFindings([applyReport(undefined, read(osvScanner), 0)]);
  if (finding === undefined) throw new Error('there is no finding');
  const unknown = assessPriority(
    finding,
    { epss: new Map(), exploited: undefined },
    { target: undefined, process: undefined },
  );
  const known = assessPriority(
    finding,
    { epss: new Map([['CVE-2026-0001', 0.0001]]), exploited: new Set() },
    { target: 'not-running', process: undefined },
  );
  t.true(unknown.score > known.score);
  t.is(unknown.factors.filter(({ value }) => value === null).length, 5);
  t.is(
    unknown.score,
    unknown.factors.reduce((sum, { points }) => sum + points, 0),
  );
});
