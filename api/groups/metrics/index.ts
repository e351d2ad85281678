import type { Operation } from '../../kernel/operation.ts';
import { listMetrics } from './list.ts';

export const metricsOperations: readonly Operation[] = [listMetrics];
