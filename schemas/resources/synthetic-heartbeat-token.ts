/** Whoever has a heartbeat's token may tell beats of it, and nothing else. The document's id is the check's. */
import { keyFormat } from '../key-format.ts';
import { defineCollection } from '../ports/documents.ts';

export interface SyntheticHeartbeatToken {
  /** Hex SHA-256 of the token. */
  readonly hash: string;
  /** First characters of the token, for people. */
  readonly prefix: string;
}

export const syntheticHeartbeatTokens = defineCollection<SyntheticHeartbeatToken>({ name: 'synthetic-beat-tokens' });

export const heartbeatTokenFormat = keyFormat('oiq_beat_');
