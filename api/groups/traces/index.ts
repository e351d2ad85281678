import type { Operation } from '../../kernel/operation.ts';
import { listTraces } from './list.ts';
import { traceLogs } from './logs.ts';
import { showTrace } from './show.ts';

export const tracesOperations: readonly Operation[] = [listTraces, showTrace, traceLogs];
