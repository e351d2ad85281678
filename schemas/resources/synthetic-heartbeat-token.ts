/** The token of a heartbeat, which permits only reporting that heartbeat. The document ID is that of the check. */
import { createKeyFormat } from '../key-format.ts';
import { defineCollection } from '../ports/documents.ts';

export interface SyntheticHeartbeatToken {
  /** Hexadecimal SHA-256 of the token. */
  readonly hash: string;
  /** First characters of the token, for display. */
  readonly prefix: string;
}

export const syntheticHeartbeatTokens = defineCollection<SyntheticHeartbeatToken>({ name: 'synthetic-beat-tokens' });

export const heartbeatTokenFormat = createKeyFormat('oiq_beat_');
