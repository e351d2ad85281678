/**
 * `oiq evidence`: verifies an exported audit chain, without a store or a network; and restarts signing after all heads
 * were lost.
 */
import { existsSync } from 'node:fs';
import { type FileFindings, readEvidencePublicKey, verifyEvidenceFile } from '../api/index.ts';
import { parseSettings } from '../schemas/settings.ts';
import { parseArguments } from './command-arguments.ts';
import { runOnInstance } from './instance.ts';
import type { CommandContext } from './platform.ts';
import { UsageError } from './usage-error.ts';

const help = `oiq evidence verify FILE [--key ID]   check an export of GET /api/audit/export?format=evidence
oiq evidence key                      id and public key of the signing key of this installation
oiq evidence sign ORGANIZATION        sign the audit chain of an organization as it is now, after all its signed tree
                                      heads were lost (GET /api/evidence/verify returns heads-missing)

Exit status: 0 if the chain is intact, 1 if it was changed or the file is not an export. Without --key a signature by any
key is accepted: compare the printed key id with \`oiq evidence key\` or GET /api/evidence/head.
`;

export const evidenceCommand = async (context: CommandContext): Promise<void> => {
  const { args, environment } = context;
  const { action, operand: target, keyId } = parseEvidenceOptions(args);
  if (action === 'help') return print(help);
  if (action === 'key') {
    const settings = parseSettings(environment);
    // Do not create a key here: no installation would use it.
    if (settings.SECRET_KEY === undefined && !existsSync(settings.DATA_DIR))
      throw new Error(`${settings.DATA_DIR} contains no installation: set OIQ_DATA_DIR or OIQ_SECRET_KEY`);
    const { id, publicKey } = await readEvidencePublicKey(settings);
    return print(`key ${id}\n${publicKey}`);
  }
  if (action === 'sign') return runOnInstance(context, { action: 'sign-chain', tenantId: target });
  const { isVerified, text } = await createEvidenceReport(target, keyId);
  print(text);
  if (!isVerified) process.exitCode = 1;
};

/** Returns the report on a file. With `keyId`, the file must be signed with that key. */
export const createEvidenceReport = async (
  file: string,
  keyId?: string,
): Promise<{ readonly isVerified: boolean; readonly text: string }> => {
  const findings = await verifyEvidenceFile(file);
  if ('unreadableReason' in findings) return { isVerified: false, text: `NOT VERIFIED: ${findings.unreadableReason}` };
  const problem = findProblem(findings, keyId);
  return { isVerified: problem === undefined, text: formatReport(findings, problem) };
};

const print = (text: string): void => {
  process.stdout.write(text.endsWith('\n') ? text : `${text}\n`);
};

interface EvidenceOptions {
  readonly action: 'verify' | 'key' | 'sign' | 'help';
  /** A file or an organization id */
  readonly operand: string;
  readonly keyId: string | undefined;
}

const parseEvidenceOptions = (args: readonly string[]): EvidenceOptions => {
  const { values, positionals } = parseArguments(args, options, help);
  const [action, operand = '', ...rest] = positionals;
  if (values.help === true || action === undefined) return { action: 'help', operand, keyId: undefined };
  if (action !== 'verify' && action !== 'key' && action !== 'sign')
    throw new UsageError(`unknown action: ${action}\n\n${help}`);
  if (rest.length > 0 || (action === 'key') !== (operand === ''))
    throw new UsageError(`${action} takes ${operands[action]}\n\n${help}`);
  return { action, operand, keyId: values.key };
};

const operands = { verify: 'one file', key: 'nothing', sign: 'the id of one organization' };
const options = { key: { type: 'string' }, help: { type: 'boolean', short: 'h' } } as const;

const findProblem = (
  { firstBreak, header, records, lastHead }: FileFindings,
  keyId: string | undefined,
): string | undefined => {
  if (firstBreak !== undefined) return `${firstBreak.message} (${firstBreak.kind})`;
  if (keyId !== undefined && keyId !== header.keyId) return `it is signed with the key ${header.keyId}, not ${keyId}`;
  if (records > 0 && lastHead === undefined) return 'no record is signed';
  return undefined;
};

const formatReport = (
  { header, records, erasedDetails, erasures, heads, lastHead }: FileFindings,
  problem: string | undefined,
): string => {
  const erasureNote =
    erasedDetails === 0 ? '' : `; the details of ${erasedDetails} records were erased, as listed above`;
  const lines = [
    `organization     ${header.organization} (${header.tenantId})`,
    `exported         ${header.exportedAt}`,
    `key              ${header.keyId}`,
    `records          ${records} verified`,
    ...erasures.map(formatErasure),
    `tree heads       ${heads} verified`,
    ...(lastHead === undefined ? [] : [`last signed      ${lastHead.size} records at ${lastHead.signedAt}`]),
    ...(lastHead !== undefined && lastHead.size < records
      ? [`not signed yet   ${records - lastHead.size} records`]
      : []),
    problem === undefined
      ? `VERIFIED: no record was changed, removed or moved${erasureNote}`
      : `NOT VERIFIED: ${problem}`,
  ];
  return lines.join('\n');
};

const formatErasure = ({ sequence, at, actor, subject, signed, details }: FileFindings['erasures'][number]): string => {
  const actorText = actor.type === 'system' ? 'the system' : `${actor.type} ${actor.id}`;
  const subjectText = subject ?? 'everybody';
  const effectText = signed ? `the details of ${details} records` : 'no details, because the erasure is not signed,';
  return `erased           ${effectText} by ${actorText} at ${at}, of ${subjectText} (record ${sequence})`;
};
