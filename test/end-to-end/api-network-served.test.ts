import { runOnClickhouse } from './served-columns.ts';

await runOnClickhouse(() => import('./api-network.test.ts'));
