import { overServedColumns } from './served-columns.ts';

await overServedColumns(() => import('./api-events.test.ts'), { servers: 2 });
