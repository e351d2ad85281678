/** Processes that telemetry and sensors saw, in the priority of vulnerabilities. */
import test from 'ava';
import { applyReport } from '../../../subjects/vulnerabilities/apply-report.ts';
import { assessFinding } from '../../../subjects/vulnerabilities/assess.ts';
import { mergeFindings } from '../../../subjects/vulnerabilities/findings.ts';
import type { Inventory } from '../../../subjects/vulnerabilities/inventory.ts';
import { readImport } from '../../../subjects/vulnerabilities/read-import.ts';
import { readRunningTargets } from '../../../subjects/vulnerabilities/running-targets.ts';

const resource = { service: 'web', image: '', tag: '', image_id: '', digests: '', host: '', processes: [''] };

/** Returns the factors about what runs, of a finding of nginx and one of a library. */
const assess = async (
  target: { readonly name: string; readonly type: string },
  rows: readonly Partial<typeof resource>[],
  sensorRows: readonly object[],
) => {
  const report = {
    SchemaVersion: 2,
    ArtifactName: target.name,
    ArtifactType: target.type,
    Results: [
      {
        Target: `${target.name} (debian 12.5)`,
        Class: 'os-pkgs',
        Type: 'debian',
        Vulnerabilities: ['nginx', 'zlib1g'].map((PkgName) => ({
          VulnerabilityID: 'CVE-2026-1',
          PkgName,
          InstalledVersion: '1',
        })),
      },
    ],
  };
  const read = readImport([Buffer.from(JSON.stringify(report))], '');
  if ('problem' in read || read.kind !== 'report') throw new Error(JSON.stringify(read));
  const findings = mergeFindings([applyReport(undefined, read, 0)]);
  const query = async (sql: string): Promise<unknown[]> => {
    if (sql.includes('FROM runtime_threats')) return [...sensorRows];
    return sql.includes('FROM resources') ? rows.map((row) => ({ ...resource, ...row })) : [];
  };
  const runningTargets = await readRunningTargets({ columns: { query } as never }, 0);
  const inventory = { facts: { epss: new Map(), exploited: undefined } } as unknown as Inventory;
  return findings.map((finding) => {
    const { factors } = assessFinding(finding, { inventory, runningTargets });
    const getValue = (name: string) => factors.find(({ factor }) => factor === name)?.value;
    return [finding.package.name, getValue('running'), getValue('process')];
  });
};

test('a process of a host confirms the package of its name, and says nothing about libraries', async (t) => {
  const host = { name: 'node-1', type: 'vm' };
  t.deepEqual(await assess(host, [{ host: 'node-1', processes: ['/usr/sbin/nginx'] }], []), [
    ['nginx', 'running', 'nginx'],
    ['zlib1g', 'running', null],
  ]);
  t.deepEqual(await assess(host, [{ host: 'node-2', processes: ['nginx'] }], []), [
    ['nginx', 'not-running', 'no'],
    ['zlib1g', 'not-running', 'no'],
  ]);
});

test('sensors name the repository of an image, in which a process was seen', async (t) => {
  const image = { name: 'docker.io/library/nginx:1.25', type: 'container_image' };
  const seen = { seen_host: 'node-1', seen_image: 'nginx', process: 'nginx' };
  t.deepEqual(await assess(image, [], [seen]), [
    ['nginx', null, 'nginx'],
    ['zlib1g', null, null],
  ]);
  t.deepEqual(await assess(image, [], [{ ...seen, seen_image: 'redis' }]), [
    ['nginx', null, null],
    ['zlib1g', null, null],
  ]);
});
