import { testLinearTime } from './linear-time.case.ts';

// 10 MB of each input takes minutes, so that test is in test/slow.
testLinearTime(64 * 1024);
