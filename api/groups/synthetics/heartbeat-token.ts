import { createHash } from 'node:crypto';
import type { TenantDocuments } from '../../../schemas/ports/documents.ts';
import {
  heartbeatTokenFormat,
  syntheticHeartbeatTokens,
} from '../../../schemas/resources/synthetic-heartbeat-token.ts';

/** Creates the token of a heartbeat and stores its hash, replacing an earlier one. */
export const createHeartbeatToken = async (
  own: TenantDocuments,
  checkId: string,
): Promise<{ readonly token: string; readonly tokenPrefix: string }> => {
  const tokens = own.collection(syntheticHeartbeatTokens);
  const token = heartbeatTokenFormat.generate();
  const tokenFields = {
    hash: createHash('sha256').update(token).digest('hex'),
    prefix: heartbeatTokenFormat.displayPrefix(token),
  };
  if ((await tokens.find(checkId)) === undefined) await tokens.insert({ id: checkId, ...tokenFields });
  else await tokens.replace(checkId, tokenFields);
  return { token, tokenPrefix: tokenFields.prefix };
};
