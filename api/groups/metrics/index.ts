import type { Operation } from '../../http/operation.ts';
import { listMetrics } from './list.ts';

export const metricsOperations: readonly Operation[] = [listMetrics];
