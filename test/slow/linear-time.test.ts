import { testLinearTime } from '../unit/citations/linear-time.case.ts';

testLinearTime(10 * 1024 * 1024);
