import type { Operation } from '../../http/operation.ts';
import { listLogs } from './list.ts';
import { showLog } from './show.ts';

export const logsOperations: readonly Operation[] = [listLogs, showLog];
