import { overServedColumns } from './served-columns.ts';

await overServedColumns(() => import('./api-kubernetes.test.ts'), { servers: 2 });
