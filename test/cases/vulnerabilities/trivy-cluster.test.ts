/** Reports of Trivy about the workloads of a Kubernetes cluster. */
import test from 'ava';
import { readImport } from '../../../subjects/vulnerabilities/read-import.ts';

const digest = (letter: string): string => `sha256:${letter.repeat(64)}`;
const alpine = {
  ImageID: digest('a'),
  RepoTags: ['alpine:3.14'],
  RepoDigests: [`alpine@${digest('1')}`],
};
const shop = { ImageID: digest('b'), RepoTags: ['registry.example/shop:1.2'] };
const ofSystem = (name: string, ids: readonly string[]) => ({
  Target: `${name} (alpine 3.14.2)`,
  Class: 'os-pkgs',
  Type: 'alpine',
  Vulnerabilities: ids.map((id) => ({
    VulnerabilityID: id,
    PkgName: 'busybox',
    InstalledVersion: '1.33.1-r3',
    Severity: 'HIGH',
  })),
});
const ofPackages = (ids: readonly string[]) => ({
  Target: 'Node.js',
  Class: 'lang-pkgs',
  Type: 'node-pkg',
  Packages: [{ Name: 'lodash', Version: '4.17.20' }],
  Vulnerabilities: ids.map((id) => ({ VulnerabilityID: id, PkgName: 'lodash', InstalledVersion: '4.17.20' })),
});
const misconfigured = {
  Target: 'Deployment/shop',
  Class: 'config',
  Type: 'kubernetes',
  Misconfigurations: [{ ID: 'KSV001' }],
};
const workload = (Name: string, Metadata: unknown, Results: readonly unknown[], more: object = {}) => ({
  Namespace: 'default',
  Kind: 'Deployment',
  Name,
  Metadata,
  Results,
  ...more,
});

const summarize = (content: object) => {
  const report = readImport([Buffer.from(JSON.stringify(content))], '');
  if ('problem' in report || report.kind !== 'cluster') throw new Error(JSON.stringify(report));
  return {
    name: report.name,
    problems: report.problems,
    reports: report.reports.map(({ target, findings, packages, isComplete, format }) => ({
      format,
      id: target.id,
      name: target.name,
      kind: target.kind,
      isComplete,
      packages: packages.length,
      findings: findings.map(({ ids, location }) => `${ids[0]}${location}`),
    })),
  };
};
const toReport = (target: typeof alpine | typeof shop, findings: readonly string[], packages: number) => ({
  format: 'trivy',
  id: target.ImageID,
  name: target.RepoTags[0],
  kind: 'image',
  isComplete: true,
  packages,
  findings,
});

for (const [form, wrap] of [
  ['before 0.50', (metadata: object) => metadata],
  ['since 0.50', (metadata: object) => [metadata]],
] as const)
  test(`resources of Trivy ${form} are reports about their images`, (t) => {
    const report = {
      ClusterName: 'production',
      Resources: [
        workload('web', wrap(alpine), [ofSystem('alpine:3.14', ['CVE-2021-1', 'CVE-2021-2'])]),
        workload('shop', wrap(shop), [ofPackages(['CVE-2021-3'])]),
        workload('shop', wrap(shop), [misconfigured]),
        { Kind: 'Role', Name: 'reader', Results: [misconfigured] },
      ],
    };
    t.deepEqual(summarize(report), {
      name: 'production',
      problems: [],
      reports: [toReport(alpine, ['CVE-2021-1', 'CVE-2021-2'], 0), toReport(shop, ['CVE-2021-3'], 1)],
    });
  });

test('a summary has the images of a workload in one finding', (t) => {
  const report = {
    ClusterName: 'production',
    Findings: [
      workload(
        'pod',
        [alpine, shop],
        [
          misconfigured,
          ofSystem('alpine:3.14', ['CVE-2021-1']),
          ofSystem('registry.example/shop:1.2', ['CVE-2021-2']),
          ofPackages(['CVE-2021-3']),
        ],
      ),
    ],
  };
  t.deepEqual(summarize(report), {
    name: 'production',
    problems: [],
    reports: [toReport(alpine, ['CVE-2021-1'], 0), toReport(shop, ['CVE-2021-2', 'CVE-2021-3'], 1)],
  });
});

test('a failed scan fixes nothing, and results of unknown images are problems', (t) => {
  const report = {
    ClusterName: 'production',
    Resources: [
      workload('web', [alpine], [ofSystem('alpine:3.14', ['CVE-2021-1'])], { Error: 'layer not found' }),
      workload('two', [alpine, shop], [ofPackages(['CVE-2021-3'])]),
    ],
  };
  t.deepEqual(summarize(report), {
    name: 'production',
    problems: [
      { path: 'Resources.0.Error', message: 'the scan failed: layer not found' },
      { path: 'Resources.1.Results.0', message: 'is about no image that the resource names' },
    ],
    reports: [{ ...toReport(alpine, ['CVE-2021-1'], 0), isComplete: false }],
  });
});

test('a cluster without workloads has no reports, and a target cannot replace its images', (t) => {
  t.deepEqual(summarize({ ClusterName: 'empty' }), { name: 'empty', problems: [], reports: [] });
  t.deepEqual(readImport([Buffer.from('{"ClusterName":"empty"}')], 'sha256:1'), {
    problem: 'is about the images of a cluster, which `target` cannot replace',
  });
});

test('reports before Trivy 0.36 name images only in the parts about operating systems', (t) => {
  const report = {
    ClusterName: 'production',
    Vulnerabilities: [
      workload('web', undefined, [ofSystem('alpine:3.14', ['CVE-2021-1'])]),
      workload('shop', undefined, [ofPackages(['CVE-2021-3'])]),
    ],
    Misconfigurations: [workload('web', undefined, [misconfigured])],
  };
  t.deepEqual(
    summarize(report).reports.map(({ id, kind, findings }) => [id, kind, findings]),
    [
      ['alpine:3.14', 'image', ['CVE-2021-1']],
      ['default/Deployment/shop', 'repository', ['CVE-2021-3']],
    ],
  );
});
