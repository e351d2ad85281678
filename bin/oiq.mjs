#!/usr/bin/env node
import { run } from './node.mjs';

const args = process.argv.slice(2);
// A probe needs little memory for short times: a larger nursery would be most of its memory.
run('main.ts', args, args[0] === 'probe' ? ['--max-semi-space-size=4'] : []);
