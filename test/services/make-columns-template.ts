/** Creates the template of the embedded tables in the directory of its argument. */
import { openChdbColumns } from '../../adapters/columns-chdb/columns-chdb.ts';
import { silentLog } from '../../schemas/ports/log.ts';
import { migrate } from '../../sinks/migrations/index.ts';

const columns = await openChdbColumns({ directory: process.argv[2] ?? '' });
await migrate(columns, silentLog);
await columns.close();
