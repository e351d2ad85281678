/** Small reports on one image by two scanners, a bill of materials and an advisory. */
const imageId = `sha256:${'4c'.repeat(32)}`;
const opensslPurl = 'pkg:rpm/alma/openssl-libs@1.1.1k-4.el8?arch=x86_64&distro=alma-8.5&epoch=1';
const vector = 'CVSS:3.1/AV:N/AC:H/PR:N/UI:N/S:U/C:H/I:N/A:H';

export const reports = {
  imageId,
  trivy: {
    SchemaVersion: 2,
    ArtifactName: 'registry.example/shop:1.2',
    ArtifactType: 'container_image',
    Metadata: { ImageID: imageId, RepoTags: ['registry.example/shop:1.2'] },
    Results: [
      {
        Target: 'registry.example/shop:1.2 (alma 8.5)',
        Class: 'os-pkgs',
        Type: 'alma',
        Packages: [
          { Name: 'openssl-libs', Version: '1.1.1k', Release: '4.el8', Identifier: { PURL: opensslPurl } },
          { Name: 'left-pad', Version: '1.0.0', Identifier: { PURL: 'pkg:npm/left-pad@1.0.0' } },
        ],
        Vulnerabilities: [
          {
            VulnerabilityID: 'CVE-2021-3712',
            PkgName: 'openssl-libs',
            InstalledVersion: '1:1.1.1k-4.el8',
            FixedVersion: '1:1.1.1k-5.el8_5',
            PkgIdentifier: { PURL: opensslPurl },
            Severity: 'MEDIUM',
            CVSS: { nvd: { V3Vector: vector } },
          },
          {
            VulnerabilityID: 'CVE-2026-0001',
            PkgName: 'left-pad',
            InstalledVersion: '1.0.0',
            PkgIdentifier: { PURL: 'pkg:npm/left-pad@1.0.0' },
            Severity: 'HIGH',
          },
        ],
      },
    ],
  },
  grype: {
    matches: [
      {
        vulnerability: {
          id: 'CVE-2021-3712',
          severity: 'High',
          cvss: [{ source: 'nvd', vector }],
          fix: { versions: [] },
        },
        relatedVulnerabilities: [],
        artifact: {
          name: 'openssl-libs',
          version: '1:1.1.1k-4.el8',
          type: 'rpm',
          purl: 'pkg:rpm/almalinux/openssl-libs@1:1.1.1k-4.el8?arch=x86_64',
        },
      },
      {
        vulnerability: { id: 'GHSA-aaaa-bbbb-cccc', severity: 'High', fix: { versions: ['1.0.1'] } },
        relatedVulnerabilities: [{ id: 'CVE-2026-0001' }],
        artifact: { name: 'left-pad', version: '1.0.0', type: 'npm', purl: 'pkg:npm/left-pad@1.0.0' },
      },
      {
        vulnerability: { id: 'CVE-2026-0002', severity: 'Low', fix: { versions: [] } },
        relatedVulnerabilities: [],
        artifact: { name: 'bash', version: '5.0', type: 'rpm', purl: '' },
      },
    ],
    source: {
      type: 'image',
      target: { userInput: 'registry.example/shop:1.2', imageID: imageId, tags: [], repoDigests: [] },
    },
    descriptor: { name: 'grype', version: '0.80' },
  },
  cyclonedx: {
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    metadata: { component: { type: 'application', name: 'shop-api' }, tools: [{ name: 'cdxgen' }] },
    components: [
      { type: 'library', name: 'lodash', version: '4.17.9', purl: 'pkg:npm/lodash@4.17.9', 'bom-ref': 'a' },
      { type: 'library', name: 'express', version: '4.0.0', purl: 'pkg:npm/express@4.0.0', 'bom-ref': 'b' },
    ],
  },
  advisory: {
    id: 'GHSA-1111-2222-3333',
    aliases: ['CVE-2026-1000'],
    modified: '2026-01-01T00:00:00Z',
    summary: 'Prototype pollution',
    affected: [
      {
        package: { ecosystem: 'npm', name: 'lodash' },
        ranges: [{ type: 'SEMVER', events: [{ introduced: '0' }, { fixed: '4.17.10' }] }],
      },
      {
        package: { ecosystem: 'npm', name: 'express' },
        ranges: [{ type: 'SEMVER', events: [{ introduced: '4.1.0' }] }],
      },
    ],
  },
};
