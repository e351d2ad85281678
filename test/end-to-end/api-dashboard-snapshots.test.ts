import { snapshotsSuite } from './api-dashboard-snapshots.ts';

snapshotsSuite('sqlite');
