/** Forms of reports that scanners wrote in other versions, or write for some distributions. */
import test from 'ava';
import { applyReport } from '../../../subjects/vulnerabilities/apply-report.ts';
import { mergeFindings } from '../../../subjects/vulnerabilities/findings.ts';
import { readImport } from '../../../subjects/vulnerabilities/read-import.ts';
import type { ScannerReport } from '../../../subjects/vulnerabilities/report.ts';

const read = (content: unknown): ScannerReport => {
  const report = readImport([Buffer.from(JSON.stringify(content))], '');
  if ('problem' in report || report.kind !== 'report') throw new Error(JSON.stringify(report));
  return report;
};

test('a list of results, as Trivy wrote it before 0.20, is a report about the image that it names', (t) => {
  const vulnerability = { VulnerabilityID: 'CVE-2019-1549', PkgName: 'libcrypto1.1', InstalledVersion: '1.1.1c-r0' };
  const list = [
    { Target: 'alpine:3.10 (alpine 3.10.2)', Type: 'alpine', Vulnerabilities: [vulnerability] },
    { Target: 'app/package-lock.json', Type: 'npm', Vulnerabilities: null },
  ];
  const { target, findings, isComplete } = read(list);
  t.like(target, { id: 'alpine:3.10', kind: 'image' });
  t.is(findings.length, 1);
  t.true(isComplete);
});

test('a finding of a package is fixed although the update changed the release of the operating system', (t) => {
  const reportOf = (release: string, ids: readonly string[]) =>
    read({
      SchemaVersion: 2,
      ArtifactName: 'node-1',
      ArtifactType: 'filesystem',
      Results: [
        {
          Target: `node-1 (debian ${release})`,
          Class: 'os-pkgs',
          Type: 'debian',
          Vulnerabilities: ids.map((id) => ({ VulnerabilityID: id, PkgName: 'openssl', InstalledVersion: '3.0.11' })),
        },
      ],
    });
  const before = applyReport(undefined, reportOf('12.4', ['CVE-2023-5678', 'CVE-2024-0727']), 1);
  const after = applyReport(before, reportOf('12.5', ['CVE-2024-0727']), 2);
  t.deepEqual(
    after.findings.map(({ ids, fixedMs }) => [ids[0], fixedMs]),
    [
      ['CVE-2024-0727', null],
      ['CVE-2023-5678', 2],
    ],
  );
});

test('an advisory of a distribution about several vulnerabilities is a finding for each, as other scanners report them', (t) => {
  const artifact = { name: 'lz4', version: '1.7.5-2', type: 'rpm' };
  const image = { imageID: 'sha256:1', userInput: 'amazonlinux:2' };
  const cves = ['CVE-2021-3520', 'CVE-2019-17543'];
  const grype = read({
    descriptor: { name: 'grype' },
    source: { type: 'image', target: image },
    matches: [
      { vulnerability: { id: 'ALAS-2021-1704' }, relatedVulnerabilities: cves.map((id) => ({ id })), artifact },
      { vulnerability: { id: 'ALAS-2022-1' }, relatedVulnerabilities: [{ id: 'CVE-2022-1' }], artifact },
    ],
  });
  const trivy = read({
    SchemaVersion: 2,
    ArtifactName: 'amazonlinux:2',
    ArtifactType: 'container_image',
    Metadata: { ImageID: 'sha256:1' },
    Results: [
      {
        Target: 'amazonlinux:2 (amazon 2 (Karoo))',
        Class: 'os-pkgs',
        Type: 'amazon',
        Vulnerabilities: [...cves, 'CVE-2022-1'].map((id) => ({
          VulnerabilityID: id,
          PkgName: 'lz4',
          InstalledVersion: '1.7.5-2',
        })),
      },
    ],
  });
  const merged = mergeFindings([grype, trivy].map((report) => applyReport(undefined, report, 1)));
  t.deepEqual(
    merged.map(({ vulnerability, sources }) => [vulnerability, sources.length]).sort(),
    [...cves, 'CVE-2022-1'].map((id) => [id, 2]).sort(),
  );
});

test('SARIF of Grype names packages in sentences, and the image in the places of packages', (t) => {
  const report = {
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: {
            name: 'grype',
            rules: [
              { id: 'CVE-2020-28928-musl', help: { text: 'Severity: medium\nFix Version: 1.1.24-r3\nType: apk' } },
            ],
          },
        },
        results: [
          {
            ruleId: 'CVE-2020-28928-musl',
            message: {
              text: 'The path /lib/apk/db/installed reports musl at version 1.1.24-r2  which is a vulnerable (apk) package installed in the container',
            },
            locations: [
              {
                physicalLocation: { artifactLocation: { uri: 'image//lib/apk/db/installed' } },
                logicalLocations: [
                  { fullyQualifiedName: `alpine:3.11@sha256:${'a'.repeat(64)}:/lib/apk/db/installed` },
                ],
              },
            ],
          },
        ],
      },
    ],
  };
  const { target, findings, problems } = read(report);
  t.deepEqual(problems, []);
  t.like(target, { id: 'alpine:3.11', kind: 'image' });
  t.like(findings, [
    {
      ids: ['CVE-2020-28928'],
      package: { name: 'musl', version: '1.1.24-r2' },
      location: '',
      fixedVersions: ['1.1.24-r3'],
    },
  ]);
});

test('SARIF with the name of an image, but without its id, is about the digest of the image', (t) => {
  const digest = `sha256:${'b'.repeat(64)}`;
  const run = {
    tool: { driver: { name: 'Trivy' } },
    properties: { imageName: 'alpine:3.10', repoDigests: [`alpine@${digest}`] },
    results: [],
  };
  t.like(read({ version: '2.1.0', runs: [run] }).target, { id: digest, name: 'alpine:3.10', kind: 'image' });
});

test('packages of SPDX are no operating systems and images', (t) => {
  const packages = [
    { SPDXID: 'a', name: 'alpine:3.10', versionInfo: 'sha256:1', primaryPackagePurpose: 'CONTAINER' },
    { SPDXID: 'b', name: 'alpine', versionInfo: '3.10.2', primaryPackagePurpose: 'OPERATING-SYSTEM' },
    { SPDXID: 'c', name: 'musl', versionInfo: '1.1.22', primaryPackagePurpose: 'LIBRARY' },
  ];
  const report = read({ spdxVersion: 'SPDX-2.3', name: 'alpine:3.10', packages });
  t.deepEqual(
    report.packages.map(({ name }) => name),
    ['musl'],
  );
});
