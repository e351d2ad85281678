/** Reports in SARIF 2.1, of any scanner of vulnerabilities. */
import { getList, getText, getTexts, getValue } from '../json-fields.ts';
import { toPackage } from '../packages.ts';
import type { CvssVector, ReportedFinding, ReportProblem, ReportTarget, ScannerReport } from '../report.ts';

export const isSarif = (report: unknown): boolean =>
  getText(report, 'version').startsWith('2.1') && Array.isArray(getValue(report, 'runs'));

const vulnerabilityId =
  /\b(?:CVE-\d{4}-\d{4,10}|GHSA(?:-[0-9a-z]{4}){3}|GO-\d{4}-\d{1,10}|(?:RUSTSEC|PYSEC|OSV|DSA|DLA|ALSA|RHSA|USN|GMS)-\d[\w-]{1,32})/i;

/** Grype writes an image, a layer and a path as the place of a package: `alpine:3.10@sha256:…:/lib/apk/db/installed`. */
const readImageOfLocation = (place: string): string =>
  place.slice(0, Math.max(0, place.search(/@(?:sha256:[0-9a-f]{64})?:\//)));

const findDigest = (references: readonly string[]): string =>
  references.map((reference) => reference.split('@')[1] ?? '').find((digest) => digest !== '') ?? '';

const readTarget = (run: unknown): ReportTarget => {
  const imageId = getText(run, 'properties', 'imageID');
  const name = getText(run, 'properties', 'imageName');
  const references = [...getTexts(run, 'properties', 'repoTags'), ...getTexts(run, 'properties', 'repoDigests')];
  if (imageId !== '') return { id: imageId, name: name || imageId, kind: 'image', references };
  const image =
    name ||
    readImageOfLocation(getText(run, 'results', 0, 'locations', 0, 'logicalLocations', 0, 'fullyQualifiedName'));
  if (image !== '') return { id: findDigest(references) || image, name: image, kind: 'image', references };
  const root =
    getText(run, 'versionControlProvenance', 0, 'repositoryUri') ||
    getText(run, 'results', 0, 'locations', 0, 'physicalLocation', 'artifactLocation', 'uri');
  return { id: root, name: root, kind: 'repository', references: [] };
};

const readVectors = (rule: unknown): CvssVector[] =>
  ['cvssv2_vector', 'cvssv3_vector', 'cvssv40_vector', 'cvss'].flatMap((name) => {
    const vector = getText(rule, 'properties', name);
    return vector === '' ? [] : [{ source: 'sarif', vector }];
  });

/** Fields that scanners write into the message: `Package: openssl`. */
const readMessageField = (message: string, name: RegExp): string => name.exec(message)?.[1]?.trim() ?? '';

const findRule = (run: unknown, result: unknown): unknown => {
  const rules = getList(run, 'tool', 'driver', 'rules');
  const ruleIndex = getValue(result, 'ruleIndex');
  const indexed = typeof ruleIndex === 'number' ? rules[ruleIndex] : undefined;
  return indexed ?? rules.find((item) => getText(item, 'id') === getText(result, 'ruleId'));
};

const splitVersions = (text: string): string[] => text.split(/,\s*/).filter((version) => version !== '');

const readSeverity = (message: string, rule: unknown): string =>
  readMessageField(message, /^Severity: (\w+)$/m).toLowerCase() ||
  (getTexts(rule, 'properties', 'tags').find((tag) => /^(?:critical|high|medium|low)$/i.test(tag)) ?? '').toLowerCase();

/** Returns the package at the end of the text of a location: `image: name@version`. */
const splitLocation = (text: string): { readonly name: string; readonly version: string } | undefined => {
  const item = text.slice(text.lastIndexOf(' ') + 1);
  const separator = item.lastIndexOf('@');
  return separator <= 0 ? undefined : { name: item.slice(0, separator), version: item.slice(separator + 1) };
};

/** Returns name and version of the package, which scanners write into texts in different ways. */
const readPackageNames = (message: string, result: unknown) => {
  const reported = /\breports (\S+) at version (\S+)/.exec(message);
  if (reported !== null) return { name: reported[1] ?? '', version: reported[2] ?? '' };
  const located = splitLocation(getText(result, 'locations', 0, 'message', 'text'));
  return {
    name:
      readMessageField(message, /^Package: (.+)$/m) ||
      (located?.name ?? readMessageField(message, /\bpackage:? (\S+?),? version/i)),
    version:
      readMessageField(message, /^Installed Version: (.+)$/m) ||
      (located?.version ?? readMessageField(message, /version (\S+)/i)),
  };
};

/** Returns the finding of a result, or why there is none. */
const readResult = (run: unknown, result: unknown, target: ReportTarget): ReportedFinding | string => {
  const rule = findRule(run, result);
  const message = getText(result, 'message', 'text');
  const id = vulnerabilityId.exec(getText(result, 'ruleId'))?.[0] ?? vulnerabilityId.exec(message)?.[0];
  if (id === undefined) return 'is about no vulnerability with an id';
  const { name, version } = readPackageNames(message, result);
  if (name === '') return 'names no package';
  const uri = getText(result, 'locations', 0, 'physicalLocation', 'artifactLocation', 'uri');
  return {
    ids: [id],
    package: toPackage({ name, version, purl: getTexts(rule, 'properties', 'purls')[0] ?? '' }),
    location: target.kind === 'image' || uri === target.id ? '' : uri,
    scope: 'all',
    severity: readSeverity(message, rule),
    title: getText(rule, 'shortDescription', 'text'),
    url: getText(rule, 'helpUri'),
    vectors: readVectors(rule),
    fixedVersions: splitVersions(
      readMessageField(message, /^Fixed Version: (.+)$/m) ||
        readMessageField(getText(rule, 'help', 'text'), /^Fix Version: (\S.*)$/m),
    ),
    epss: null,
    isKnownExploited: false,
  };
};

export const readSarif = (report: unknown): ScannerReport => {
  const runs = getList(report, 'runs');
  const scanner = getText(runs[0], 'tool', 'driver', 'name').toLowerCase() || 'sarif';
  const target = readTarget(runs[0]);
  const findings: ReportedFinding[] = [];
  const problems: ReportProblem[] = [];
  for (const [runIndex, run] of runs.entries())
    for (const [index, result] of getList(run, 'results').entries()) {
      const finding = readResult(run, result, target);
      if (typeof finding !== 'string') findings.push(finding);
      else problems.push({ path: `runs.${runIndex}.results.${index}`, message: finding });
    }
  const hasFailed = runs.some((run) =>
    getList(run, 'invocations').some((invocation) => getValue(invocation, 'executionSuccessful') === false),
  );
  return {
    kind: 'report',
    format: 'sarif',
    scanner,
    target,
    isComplete: runs.length > 0 && !hasFailed,
    scopes: ['all'],
    findings,
    packages: [],
    hasPackages: false,
    problems,
  };
};
