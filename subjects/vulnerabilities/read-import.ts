/** Reads a report, whose format is detected by its content. */
import { gunzipSync } from 'node:zlib';
import { unzipSync } from 'fflate';
import { isCycloneDx, isSpdx, readCycloneDx, readSpdx } from './formats/bills-of-materials.ts';
import {
  isEpssCsv,
  isEpssJson,
  isKev,
  isOpenVex,
  readEpssCsv,
  readEpssJson,
  readKev,
  readOpenVex,
} from './formats/exploitation.ts';
import { isGrype, readGrype } from './formats/grype.ts';
import { isOsvAdvisory, isOsvScanner, readAdvisory, readOsvScanner } from './formats/osv.ts';
import { isSarif, readSarif } from './formats/sarif.ts';
import { isTrivy, isTrivyCluster, isTrivyList, readTrivy, readTrivyCluster, readTrivyList } from './formats/trivy.ts';
import { type ReadJson, readJson } from './read-json.ts';
import type { Advisory, ImportedReport, ReportProblem } from './report.ts';
import { maxProblems } from './report.ts';

/** Why a report cannot be read */
export interface UnreadableReport {
  readonly problem: string;
}

/** Maximum decompressed size of a report or an archive, and of its files */
const maxDecompressedBytes = 512 * 1024 * 1024;
const maxFileBytes = 16 * 1024 * 1024;
const maxFiles = 200_000;
const decodeText = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

/** Returns the bytes without a byte order mark. */
const withoutMark = (bytes: Uint8Array): Uint8Array =>
  bytes.subarray(bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0);

/** Returns all bytes. Copies chunks, because each may be freed when the next one is read. */
const concatenate = (chunks: Iterable<Uint8Array>): Buffer =>
  Buffer.concat(Array.from(chunks, (chunk) => Uint8Array.from(chunk)));

/** Returns chunks of a body, with its first one read. */
function* continueWith(first: Uint8Array, rest: Iterator<Uint8Array>): Generator<Uint8Array> {
  yield first;
  for (let next = rest.next(); next.done !== true; next = rest.next()) yield next.value;
}

/** Returns whether the content is not JSON object or array, by its beginning. */
const isText = (bytes: Uint8Array): boolean => !/^\s*[[{]/.test(decodeText(bytes.subarray(0, 1_024)));

const toAdvisories = (values: readonly (readonly [path: string, json: ReadJson])[]): ImportedReport => {
  const advisories: Advisory[] = [];
  const problems: ReportProblem[] = [];
  for (const [path, json] of values) {
    const value = 'problem' in json ? undefined : json.value;
    if (isOsvAdvisory(value)) advisories.push(...[readAdvisory(value)].filter((advisory) => advisory !== undefined));
    else if (problems.length < maxProblems)
      problems.push({ path, message: 'problem' in json ? json.problem : 'is not an advisory of OSV' });
  }
  return { kind: 'advisories', format: 'osv', advisories, problems };
};

const readArchive = (bytes: Uint8Array): ImportedReport | UnreadableReport => {
  let total = 0;
  let count = 0;
  let problem: string | undefined;
  let files: Record<string, Uint8Array>;
  try {
    // An archive of advisories has many small files: a stream for each would take several times as long.
    files = unzipSync(bytes, {
      filter({ name, originalSize }) {
        if (!name.endsWith('.json') || problem !== undefined) return false;
        count++;
        total += originalSize;
        if (originalSize > maxFileBytes)
          problem = `the file ${name.slice(0, 200)} is larger than ${maxFileBytes} bytes`;
        else if (total > maxDecompressedBytes)
          problem = `the archive has more than ${maxDecompressedBytes} bytes decompressed`;
        else if (count > maxFiles) problem = `the archive has more than ${maxFiles} files`;
        return problem === undefined;
      },
    });
  } catch (error) {
    return { problem: `the archive is damaged: ${(error as Error).message}` };
  }
  if (problem !== undefined) return { problem };
  return toAdvisories(
    Object.entries(files).map(([name, content]) => [name, readJson([withoutMark(content)])] as const),
  );
};

const readValue = (value: unknown, targetName: string): ImportedReport | UnreadableReport => {
  if (isTrivy(value)) return readTrivy(value);
  if (isTrivyList(value)) return readTrivyList(value);
  if (isTrivyCluster(value)) return readTrivyCluster(value);
  if (isGrype(value)) return readGrype(value);
  if (isSarif(value)) return readSarif(value);
  if (isCycloneDx(value)) return readCycloneDx(value);
  if (isSpdx(value)) return readSpdx(value);
  if (isOpenVex(value)) return readOpenVex(value);
  if (isKev(value)) return readKev(value);
  if (isEpssJson(value)) return readEpssJson(value);
  if (isOsvAdvisory(value)) return toAdvisories([['', { value }]]);
  if (Array.isArray(value) && value.length > 0 && value.some(isOsvAdvisory))
    return toAdvisories(value.map((item, index) => [String(index), { value: item }] as const));
  if (isOsvScanner(value)) return readOsvScanner(value, targetName);
  return {
    problem:
      'is none of: JSON of Trivy, Grype or OSV-Scanner, SARIF 2.1, CycloneDX, SPDX, OpenVEX, KEV JSON, EPSS CSV, OSV advisories',
  };
};

/** Returns the report in decompressed chunks of a body. */
const readText = (first: Uint8Array, rest: Iterator<Uint8Array>, targetName: string) => {
  if (isText(first) && isEpssCsv(decodeText(first.subarray(0, 1_024))))
    return readEpssCsv(decodeText(concatenate(continueWith(first, rest))));
  const json = readJson(continueWith(withoutMark(first), rest));
  if ('problem' in json)
    return { problem: `is neither CSV of EPSS, nor a zip archive, nor valid JSON: ${json.problem}` };
  return readValue(json.value, targetName);
};

/** Returns what a body contains, or why it cannot be read. `targetName` replaces the target of a report. */
export const readImport = (chunks: Iterable<Uint8Array>, targetName: string): ImportedReport | UnreadableReport => {
  const rest = chunks[Symbol.iterator]();
  let first: Uint8Array = rest.next().value ?? Buffer.alloc(0);
  if (first[0] === 0x1f && first[1] === 0x8b)
    try {
      const packed = concatenate(continueWith(first, rest));
      first = gunzipSync(packed, { maxOutputLength: maxDecompressedBytes });
    } catch (error) {
      return { problem: `cannot be decompressed: ${(error as Error).message}` };
    }
  if (first[0] === 0x50 && first[1] === 0x4b) return readArchive(concatenate(continueWith(first, rest)));
  const report = readText(first, rest, targetName);
  if ('problem' in report || targetName === '') return report;
  if (report.kind === 'cluster') return { problem: 'is about the images of a cluster, which `target` cannot replace' };
  if (report.kind !== 'report') return report;
  return { ...report, target: { ...report.target, id: targetName, name: report.target.name || targetName } };
};
