import { createHash } from 'node:crypto';
import type { TenantDocuments } from '../../../schemas/ports/documents.ts';
import { beatTokenFormat, syntheticBeatTokens } from '../../../schemas/resources/synthetic-beat-token.ts';

/** Makes the token of a heartbeat and stores its hash, in place of one before. */
export const makeBeatToken = async (
  own: TenantDocuments,
  checkId: string,
): Promise<{ readonly token: string; readonly tokenPrefix: string }> => {
  const tokens = own.collection(syntheticBeatTokens);
  const token = beatTokenFormat.make();
  const stored = {
    hash: createHash('sha256').update(token).digest('hex'),
    prefix: beatTokenFormat.displayPrefix(token),
  };
  if ((await tokens.find(checkId)) === undefined) await tokens.insert({ id: checkId, ...stored });
  else await tokens.replace(checkId, stored);
  return { token, tokenPrefix: stored.prefix };
};
