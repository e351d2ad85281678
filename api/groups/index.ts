/** Every operation of the management API. A new one is a definition in its group's folder and a line here. */
import type { Operation } from '../http/operation.ts';
import { currentSession } from './authentication/current-session.ts';
import { jwks } from './authentication/jwks.ts';
import { login } from './authentication/login.ts';
import { logout } from './authentication/logout.ts';
import { discardDeadLetter } from './dead-letter/discard.ts';
import { listDeadLetters } from './dead-letter/list.ts';
import { replayDeadLetters } from './dead-letter/replay.ts';
import { showDeadLetter } from './dead-letter/show.ts';
import { showReplay } from './dead-letter/show-replay.ts';
import { listLogs } from './logs/list.ts';
import { showLog } from './logs/show.ts';
import { listMetrics } from './metrics/list.ts';
import { listTraces } from './traces/list.ts';
import { traceLogs } from './traces/logs.ts';
import { showTrace } from './traces/show.ts';
import { unbuilt } from './unbuilt.ts';

export const operations: readonly Operation[] = [
  login,
  logout,
  currentSession,
  jwks,
  listLogs,
  showLog,
  listMetrics,
  listTraces,
  showTrace,
  traceLogs,
  listDeadLetters,
  showDeadLetter,
  replayDeadLetters,
  showReplay,
  discardDeadLetter,
  ...unbuilt,
];
