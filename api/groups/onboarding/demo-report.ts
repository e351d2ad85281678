/** Report of a scanner about an image of the demo shop, in the format of Trivy */

/** Target of the report, by which it is deleted */
export const demoReportTarget = 'registry.example/shop/checkout:2.3.1';
export const demoReportScanner = 'trivy';

const findings = [
  ['CVE-2019-20477', 'PyYAML', '5.1', '5.2', 'CRITICAL', 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H'],
  ['CVE-2023-50447', 'Pillow', '9.5.0', '10.2.0', 'HIGH', 'CVSS:3.1/AV:N/AC:H/PR:N/UI:N/S:U/C:H/I:H/A:H'],
  ['CVE-2023-32681', 'requests', '2.30.0', '2.31.0', 'MEDIUM', 'CVSS:3.1/AV:N/AC:H/PR:N/UI:R/S:C/C:H/I:N/A:N'],
  ['CVE-2022-40897', 'setuptools', '65.5.0', '65.5.1', 'MEDIUM', 'CVSS:3.1/AV:N/AC:H/PR:N/UI:N/S:U/C:N/I:N/A:H'],
  ['CVE-2023-45803', 'urllib3', '1.26.17', '1.26.18', 'MEDIUM', 'CVSS:3.1/AV:A/AC:H/PR:H/UI:N/S:U/C:H/I:N/A:N'],
] as const;

export const demoReport = {
  SchemaVersion: 2,
  ArtifactName: demoReportTarget,
  ArtifactType: 'container_image',
  Results: [
    {
      Target: 'Python',
      Class: 'lang-pkgs',
      Type: 'python-pkg',
      Vulnerabilities: findings.map(([id, name, version, fixedVersion, severity, vector]) => ({
        VulnerabilityID: id,
        PkgName: name,
        InstalledVersion: version,
        FixedVersion: fixedVersion,
        PkgIdentifier: { PURL: `pkg:pypi/${name.toLowerCase()}@${version}` },
        Severity: severity,
        CVSS: { nvd: { V3Vector: vector } },
      })),
    },
  ],
};
