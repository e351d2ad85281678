import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import type { PublicEvidenceKey } from '../../../../schemas/ports/evidence.ts';
import { EvidenceHeader, EvidenceLine } from './evidence-file.ts';
import { parsePublicEvidenceKey } from './evidence-key.ts';
import { ChainVerifier, type Findings } from './verification.ts';

/** The findings in a file, and its header. */
export interface FileFindings extends Findings {
  readonly header: EvidenceHeader;
}

/** Thrown for a file that is not an evidence file, or that is incomplete. */
export class EvidenceFileError extends Error {}

/** Reads a file line by line and verifies it. Throws `EvidenceFileError` for any other file. */
export const verifyEvidenceFile = async (path: string): Promise<FileFindings> => {
  const header = await readHeader(path);
  const verification = new ChainVerifier({
    tenantId: header.tenantId,
    key: parsePublicKey(header),
    now: Date.parse(header.exportedAt),
  });
  let findings: FileFindings | undefined;
  for await (const line of readLines(path)) {
    if (line.type === 'record') verification.addRecord(line.record);
    else if (line.type === 'head') verification.addHead(line.head);
    else findings = { header, ...verification.finish(line) };
  }
  if (findings === undefined) throw new EvidenceFileError('the file was cut: its last line is missing');
  return findings;
};

const parsePublicKey = ({ publicKey, keyId }: EvidenceHeader): PublicEvidenceKey => {
  let key: PublicEvidenceKey;
  try {
    key = parsePublicEvidenceKey(publicKey);
  } catch (cause) {
    throw new EvidenceFileError('the public key in the first line cannot be read', { cause });
  }
  if (key.id !== keyId) throw new EvidenceFileError(`the public key in the first line is not ${keyId}`);
  return key;
};

const readHeader = async (path: string): Promise<EvidenceHeader> => {
  for await (const { value } of readJsonLines(path)) {
    const header = EvidenceHeader.safeParse(value);
    if (header.success) return header.data;
    break;
  }
  throw new EvidenceFileError('this is not an evidence file: create one with GET /api/audit/export?format=evidence');
};

/** The lines after the header, up to the end. */
async function* readLines(path: string): AsyncGenerator<EvidenceLine> {
  let hasEnded = false;
  for await (const { number, value } of readJsonLines(path)) {
    if (number === 1) continue;
    const line = EvidenceLine.safeParse(value);
    if (!line.success || hasEnded)
      throw new EvidenceFileError(`line ${number} is not a valid record, head or end of an evidence file`);
    yield line.data;
    hasEnded = line.data.type === 'end';
  }
}

async function* readJsonLines(path: string): AsyncGenerator<{ readonly number: number; readonly value: unknown }> {
  const file = createReadStream(path, 'utf8');
  let number = 0;
  try {
    for await (const text of createInterface({ input: file, crlfDelay: Number.POSITIVE_INFINITY })) {
      number++;
      yield { number, value: parseJson(text, number) };
    }
  } finally {
    file.destroy();
  }
}

const parseJson = (text: string, number: number): unknown => {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new EvidenceFileError(`line ${number} is not JSON: the file was cut or changed`, { cause });
  }
};
