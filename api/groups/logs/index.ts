import type { Operation } from '../../kernel/operation.ts';
import { listLogs } from './list.ts';
import { showLog } from './show.ts';

export const logsOperations: readonly Operation[] = [listLogs, showLog];
