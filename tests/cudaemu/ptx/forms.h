/* Every form of instruction that is accepted: one row for each pattern.
 *
 * FORM(op, pattern, operands, action, version, target)
 *   pattern   ".a" a word that must come, ".{a,b}" one of these must,
 *             "[.a]" and "[.{a,b}]" may
 *   operands  two characters each, in order; see below
 *   action    what executes it, PTX_DO_...
 *   version, target  the lowest .version and .target that have it, times 10
 *
 * Operands: the first character says what may stand there,
 *   d a register written         | another one written, after a bar, optional
 *   s a register or number read  D S the same, but wider registers will do
 *   v V registers of a load or store, a vector where the form says .v2 or .v4
 *   o a number read that may be missing
 *   m memory   i a number   l a label   t a table of labels
 * the second its type: 0 1 2 the form's, u u32, w twice as wide as 0,
 * p pred, x u64.  A ? after them: they may be missing at the end.
 *
 * Included wherever a table of forms is needed; define FORM before. */

#define INTEGERS ".{u16,s16,u32,s32,u64,s64}"
#define WORDS ".{u32,s32,u64,s64}"
#define ROUND ".{rn,rz,rm,rp}"
#define ANY_TYPE ".{b16,b32,b64,u16,u32,u64,s16,s32,s64,f32,f64}"
#define MEMORY_TYPE \
  ".{b8,b16,b32,b64,u8,u16,u32,u64,s8,s16,s32,s64,f32,f64}"
#define SCOPE ".{cta,gpu,sys}"
#define LEVELS                                                           \
  "[.{L1::evict_normal,L1::evict_first,L1::evict_last,"                  \
  "L1::evict_unchanged,L1::no_allocate}][.{L2::64B,L2::128B,L2::256B}]"
#define LOAD_SPACE \
  "[.{global,shared,shared::cta,local,param,param::entry,param::func,const}]"
#define STORE_SPACE "[.{global,shared,shared::cta,local,param,param::func}]"
#define ATOMIC                                               \
  "[.{relaxed,acquire,release,acq_rel}][.{cta,gpu,sys}]"     \
  "[.{global,shared,shared::cta}]"
#define ORDERED ".{eq,ne,lt,le,gt,ge,lo,ls,hi,hs}"
#define FLOAT_ORDERED \
  ".{eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan}"
#define BOOLEAN "[.{and,or,xor}]"
#define CONVERTED ".{u8,u16,u32,u64,s8,s16,s32,s64}"

/* Integers */
FORM(add, INTEGERS, "d0s0s0", LANES, 10, 10)
FORM(add, ".sat.s32", "d0s0s0", LANES, 10, 10)
FORM(add, ".cc" WORDS, "d0s0s0", CARRY, 43, 20)
FORM(addc, "[.cc]" WORDS, "d0s0s0", CARRY, 43, 20)
FORM(sub, INTEGERS, "d0s0s0", LANES, 10, 10)
FORM(sub, ".sat.s32", "d0s0s0", LANES, 10, 10)
FORM(sub, ".cc" WORDS, "d0s0s0", CARRY, 43, 20)
FORM(subc, "[.cc]" WORDS, "d0s0s0", CARRY, 43, 20)
FORM(mul, ".{lo,hi}" INTEGERS, "d0s0s0", LANES, 10, 10)
FORM(mul, ".wide.{u16,s16,u32,s32}", "dws0s0", LANES, 10, 10)
FORM(mul24, ".{lo,hi}.{u32,s32}", "d0s0s0", LANES, 10, 10)
FORM(mad, ".{lo,hi}" INTEGERS, "d0s0s0s0", LANES, 10, 10)
FORM(mad, ".wide.{u16,s16,u32,s32}", "dws0s0sw", LANES, 10, 10)
FORM(mad, ".hi.sat.s32", "d0s0s0s0", LANES, 10, 10)
FORM(mad, ".{lo,hi}.cc" WORDS, "d0s0s0s0", CARRY, 43, 20)
FORM(madc, ".{lo,hi}[.cc]" WORDS, "d0s0s0s0", CARRY, 43, 20)
FORM(mad24, ".{lo,hi}.{u32,s32}", "d0s0s0s0", LANES, 10, 10)
FORM(sad, INTEGERS, "d0s0s0s0", LANES, 10, 10)
FORM(div, INTEGERS, "d0s0s0", LANES, 10, 10)
FORM(rem, INTEGERS, "d0s0s0", LANES, 10, 10)
FORM(abs, ".{s16,s32,s64}", "d0s0", LANES, 10, 10)
FORM(neg, ".{s16,s32,s64}", "d0s0", LANES, 10, 10)
FORM(min, INTEGERS, "d0s0s0", LANES, 10, 10)
FORM(max, INTEGERS, "d0s0s0", LANES, 10, 10)
FORM(popc, ".{b32,b64}", "dus0", LANES, 20, 20)
FORM(clz, ".{b32,b64}", "dus0", LANES, 20, 20)
FORM(bfind, "[.shiftamt]" WORDS, "dus0", LANES, 20, 20)
FORM(brev, ".{b32,b64}", "d0s0", LANES, 20, 20)
FORM(bfe, WORDS, "d0s0susu", LANES, 20, 20)
FORM(bfi, ".{b32,b64}", "d0s0s0susu", LANES, 20, 20)
FORM(dp4a, ".{u32,s32}.{u32,s32}", "dusususu", LANES, 50, 61)
FORM(dp2a, ".{lo,hi}.{u32,s32}.{u32,s32}", "dusususu", LANES, 50, 61)

/* Bits */
FORM(and, ".pred", "dpspsp", LOGIC, 10, 10)
FORM(and, ".{b16,b32,b64}", "d0s0s0", LANES, 10, 10)
FORM(or, ".pred", "dpspsp", LOGIC, 10, 10)
FORM(or, ".{b16,b32,b64}", "d0s0s0", LANES, 10, 10)
FORM(xor, ".pred", "dpspsp", LOGIC, 10, 10)
FORM(xor, ".{b16,b32,b64}", "d0s0s0", LANES, 10, 10)
FORM(not, ".pred", "dpsp", LOGIC, 10, 10)
FORM(not, ".{b16,b32,b64}", "d0s0", LANES, 10, 10)
FORM(cnot, ".{b16,b32,b64}", "d0s0", LANES, 10, 10)
FORM(lop3, ".b32", "d0s0s0s0iu", LOOKUP, 43, 50)
FORM(shl, ".{b16,b32,b64}", "d0s0su", LANES, 10, 10)
FORM(shr, ".{b16,b32,b64,u16,u32,u64,s16,s32,s64}", "d0s0su", LANES, 10, 10)
FORM(shf, ".{l,r}.{clamp,wrap}.b32", "d0s0s0su", LANES, 31, 32)
FORM(prmt, ".b32", "d0s0s0s0", LANES, 20, 20)

/* f32 and f64 */
FORM(add, "[" ROUND "][.ftz][.sat].f32", "d0s0s0", FLOAT, 10, 10)
FORM(add, "[" ROUND "].f64", "d0s0s0", FLOAT, 14, 13)
FORM(sub, "[" ROUND "][.ftz][.sat].f32", "d0s0s0", FLOAT, 10, 10)
FORM(sub, "[" ROUND "].f64", "d0s0s0", FLOAT, 14, 13)
FORM(mul, "[" ROUND "][.ftz][.sat].f32", "d0s0s0", FLOAT, 10, 10)
FORM(mul, "[" ROUND "].f64", "d0s0s0", FLOAT, 14, 13)
FORM(fma, ROUND "[.ftz][.sat].f32", "d0s0s0s0", FLOAT, 20, 20)
FORM(fma, ROUND ".f64", "d0s0s0s0", FLOAT, 14, 13)
FORM(mad, ROUND "[.ftz][.sat].f32", "d0s0s0s0", FLOAT, 20, 20)
FORM(mad, ROUND ".f64", "d0s0s0s0", FLOAT, 14, 13)
FORM(div, ".{approx,full}[.ftz].f32", "d0s0s0", FLOAT, 14, 10)
FORM(div, ROUND "[.ftz].f32", "d0s0s0", FLOAT, 14, 20)
FORM(div, ROUND ".f64", "d0s0s0", FLOAT, 14, 13)
FORM(abs, "[.ftz].f32", "d0s0", FLOAT, 10, 10)
FORM(abs, ".f64", "d0s0", FLOAT, 14, 13)
FORM(neg, "[.ftz].f32", "d0s0", FLOAT, 10, 10)
FORM(neg, ".f64", "d0s0", FLOAT, 14, 13)
FORM(min, "[.ftz].f32", "d0s0s0", FLOAT, 10, 10)
FORM(min, "[.ftz].NaN.f32", "d0s0s0", FLOAT, 70, 80)
FORM(min, ".f64", "d0s0s0", FLOAT, 14, 13)
FORM(max, "[.ftz].f32", "d0s0s0", FLOAT, 10, 10)
FORM(max, "[.ftz].NaN.f32", "d0s0s0", FLOAT, 70, 80)
FORM(max, ".f64", "d0s0s0", FLOAT, 14, 13)
FORM(rcp, ".approx[.ftz].f32", "d0s0", FLOAT, 14, 10)
FORM(rcp, ROUND "[.ftz].f32", "d0s0", FLOAT, 14, 20)
FORM(rcp, ROUND ".f64", "d0s0", FLOAT, 14, 13)
FORM(rcp, ".approx.ftz.f64", "d0s0", LANES, 21, 20)
FORM(sqrt, ".approx[.ftz].f32", "d0s0", FLOAT, 14, 10)
FORM(sqrt, ROUND "[.ftz].f32", "d0s0", FLOAT, 14, 20)
FORM(sqrt, ROUND ".f64", "d0s0", FLOAT, 14, 13)
FORM(rsqrt, ".approx[.ftz].f32", "d0s0", FLOAT, 14, 10)
FORM(rsqrt, ".approx.f64", "d0s0", FLOAT, 14, 13)
FORM(rsqrt, ".approx.ftz.f64", "d0s0", LANES, 40, 20)
FORM(sin, ".approx[.ftz].f32", "d0s0", FLOAT, 14, 10)
FORM(cos, ".approx[.ftz].f32", "d0s0", FLOAT, 14, 10)
FORM(lg2, ".approx[.ftz].f32", "d0s0", FLOAT, 14, 10)
FORM(ex2, ".approx[.ftz].f32", "d0s0", FLOAT, 14, 10)
FORM(tanh, ".approx.f32", "d0s0", FLOAT, 70, 75)
FORM(copysign, ".{f32,f64}", "d0s0s0", LANES, 20, 20)
FORM(testp,
     ".{finite,infinite,number,notanumber,normal,subnormal}.{f32,f64}",
     "dps0", TEST, 20, 20)

/* f16 and bf16 */
FORM(add, "[.rn][.ftz][.sat].{f16,f16x2}", "d0s0s0", FLOAT, 42, 53)
FORM(add, "[.rn].{bf16,bf16x2}", "d0s0s0", FLOAT, 78, 90)
FORM(sub, "[.rn][.ftz][.sat].{f16,f16x2}", "d0s0s0", FLOAT, 42, 53)
FORM(sub, "[.rn].{bf16,bf16x2}", "d0s0s0", FLOAT, 78, 90)
FORM(mul, "[.rn][.ftz][.sat].{f16,f16x2}", "d0s0s0", FLOAT, 42, 53)
FORM(mul, "[.rn].{bf16,bf16x2}", "d0s0s0", FLOAT, 78, 90)
FORM(fma, ".rn[.ftz][.sat].{f16,f16x2}", "d0s0s0s0", FLOAT, 42, 53)
FORM(fma, ".rn.{bf16,bf16x2}", "d0s0s0s0", FLOAT, 70, 80)
FORM(abs, "[.ftz].{f16,f16x2}", "d0s0", FLOAT, 65, 53)
FORM(abs, ".{bf16,bf16x2}", "d0s0", FLOAT, 70, 80)
FORM(neg, "[.ftz].{f16,f16x2}", "d0s0", FLOAT, 60, 53)
FORM(neg, ".{bf16,bf16x2}", "d0s0", FLOAT, 70, 80)
FORM(min, "[.ftz][.NaN].{f16,f16x2}", "d0s0s0", FLOAT, 70, 80)
FORM(min, "[.NaN].{bf16,bf16x2}", "d0s0s0", FLOAT, 70, 80)
FORM(max, "[.ftz][.NaN].{f16,f16x2}", "d0s0s0", FLOAT, 70, 80)
FORM(max, "[.NaN].{bf16,bf16x2}", "d0s0s0", FLOAT, 70, 80)
FORM(ex2, ".approx.{f16,f16x2}", "d0s0", FLOAT, 70, 75)
FORM(tanh, ".approx.{f16,f16x2}", "d0s0", FLOAT, 70, 75)

/* Comparison and choice */
FORM(setp, ORDERED BOOLEAN INTEGERS, "dp|ps0s0sp?", COMPARE, 10, 10)
FORM(setp, ".{eq,ne}" BOOLEAN ".{b16,b32,b64}", "dp|ps0s0sp?", COMPARE, 10, 10)
FORM(setp, FLOAT_ORDERED BOOLEAN "[.ftz].f32", "dp|ps0s0sp?", COMPARE, 10, 10)
FORM(setp, FLOAT_ORDERED BOOLEAN ".f64", "dp|ps0s0sp?", COMPARE, 14, 13)
FORM(setp, FLOAT_ORDERED BOOLEAN "[.ftz].f16", "dp|ps0s0sp?", COMPARE, 42, 53)
FORM(setp, FLOAT_ORDERED BOOLEAN ".bf16", "dp|ps0s0sp?", COMPARE, 78, 90)
FORM(set, ORDERED BOOLEAN ".{u32,s32,f32}" INTEGERS, "d0s1s1sp?", SET, 10, 10)
FORM(set, ".{eq,ne}" BOOLEAN ".{u32,s32,f32}.{b16,b32,b64}", "d0s1s1sp?", SET,
     10, 10)
FORM(set, FLOAT_ORDERED BOOLEAN "[.ftz].{u32,s32,f32}.f32", "d0s1s1sp?", SET,
     10, 10)
FORM(set, FLOAT_ORDERED BOOLEAN ".{u32,s32,f32}.f64", "d0s1s1sp?", SET, 14, 13)
FORM(set, FLOAT_ORDERED BOOLEAN "[.ftz].{f16,u16,s16,u32,s32}.f16", "d0s1s1sp?",
     SET, 42, 53)
FORM(set, FLOAT_ORDERED BOOLEAN "[.ftz].{f16x2,u32,s32}.f16x2", "d0s1s1sp?",
     SET, 42, 53)
FORM(set, FLOAT_ORDERED BOOLEAN ".{bf16,u16,s16,u32,s32}.bf16", "d0s1s1sp?",
     SET, 78, 90)
FORM(set, FLOAT_ORDERED BOOLEAN ".{bf16x2,u32,s32}.bf16x2", "d0s1s1sp?", SET,
     78, 90)
FORM(selp, ANY_TYPE, "d0s0s0sp", SELECT, 10, 10)
FORM(slct, ANY_TYPE ".s32", "d0s0s0s1", LANES, 10, 10)
FORM(slct, ANY_TYPE ".f32", "d0s0s0s1", LANES, 10, 10)

/* Moves and conversions */
FORM(mov, ".{pred,b16,b32,b64,u16,u32,u64,s16,s32,s64,f16,f32,f64}", "",
     MOVE, 10, 10)
FORM(cvt, "[.sat]" CONVERTED CONVERTED, "D0S1", CONVERT, 10, 10)
FORM(cvt, ".{rni,rzi,rmi,rpi}[.ftz][.sat]" CONVERTED ".{f16,f32,f64}", "D0S1",
     CONVERT, 10, 10)
FORM(cvt, ".{rni,rzi,rmi,rpi}" CONVERTED ".bf16", "D0S1", CONVERT, 78, 90)
FORM(cvt, ROUND "[.sat].{f16,f32,f64}" CONVERTED, "D0S1", CONVERT, 10, 10)
FORM(cvt, "[.{rn,rni,rzi,rmi,rpi}][.ftz][.sat].f32.f32", "D0S1", CONVERT, 10,
     10)
FORM(cvt, "[.{rn,rni,rzi,rmi,rpi}][.sat].f64.f64", "D0S1", CONVERT, 14, 13)
FORM(cvt, "[.{rni,rzi,rmi,rpi}][.ftz][.sat].f16.f16", "D0S1", CONVERT, 42, 53)
FORM(cvt, "[.ftz][.sat].f32.f16", "D0S1", CONVERT, 10, 10)
FORM(cvt, "[.sat].f64.{f16,f32}", "D0S1", CONVERT, 10, 10)
FORM(cvt, "[.ftz][.sat].f64.f32", "D0S1", CONVERT, 10, 10)
FORM(cvt, ROUND "[.ftz][.sat].f32.f64", "D0S1", CONVERT, 14, 13)
FORM(cvt, ".{rn,rz}[.ftz][.sat].f16.f32", "D0S1", CONVERT, 10, 10)
FORM(cvt, ".{rn,rz}[.sat].f16.f64", "D0S1", CONVERT, 10, 10)
FORM(cvt, ".{rn,rz}.bf16.f32", "D0S1", CONVERT, 70, 80)
FORM(cvt, ".f32.bf16", "D0S1", CONVERT, 71, 80)
FORM(cvt, ".{rn,rz}.{f16x2,bf16x2}.f32", "d0s1s1", PACK_HALVES, 70, 80)
FORM(cvta, "[.to].{global,shared,shared::cta,local,const}.u64", "d0s0", ADDRESS,
     20, 20)
FORM(cvta, "[.to].{param,param::entry}.u64", "d0s0", ADDRESS, 77, 70)
FORM(isspacep, ".{global,shared,shared::cta,local}", "dpsx", IS_SPACE, 20, 20)
FORM(isspacep, ".const", "dpsx", IS_SPACE, 31, 20)

/* Memory */
FORM(ld, "[.{weak,volatile}]" LOAD_SPACE "[.{ca,cg,cs,lu,cv}]" LEVELS
     "[.{v2,v4}]" MEMORY_TYPE, "v0m-", LOAD, 10, 10)
FORM(ld, "[.weak].global[.{ca,cg,cs}].nc" LEVELS "[.{v2,v4}]" MEMORY_TYPE,
     "v0m-", LOAD, 31, 32)
FORM(ld, ".{relaxed,acquire}" SCOPE "[.{global,shared,shared::cta}]" LEVELS
     "[.{v2,v4}]" MEMORY_TYPE, "v0m-", LOAD, 60, 70)
FORM(st, "[.{weak,volatile}]" STORE_SPACE "[.{wb,cg,cs,wt}]" LEVELS
     "[.{v2,v4}]" MEMORY_TYPE, "m-V0", STORE, 10, 10)
FORM(st, ".{relaxed,release}" SCOPE "[.{global,shared,shared::cta}]" LEVELS
     "[.{v2,v4}]" MEMORY_TYPE, "m-V0", STORE, 60, 70)
FORM(atom, ATOMIC ".add.{u32,s32,u64,f32}", "d0m-s0", ATOMIC, 20, 20)
FORM(atom, ATOMIC ".add.f64", "d0m-s0", ATOMIC, 50, 60)
FORM(atom, ATOMIC ".{min,max}.{u32,s32,u64,s64}", "d0m-s0", ATOMIC, 31, 32)
FORM(atom, ATOMIC ".{inc,dec}.u32", "d0m-s0", ATOMIC, 11, 11)
FORM(atom, ATOMIC ".{and,or,xor,exch}.{b32,b64}", "d0m-s0", ATOMIC, 31, 32)
FORM(atom, ATOMIC ".cas.{b32,b64}", "d0m-s0s0", ATOMIC, 12, 12)
FORM(atom, ATOMIC ".cas.b16", "d0m-s0s0", ATOMIC, 63, 70)
FORM(red, ATOMIC ".add.{u32,s32,u64,f32}", "m-s0", REDUCE, 20, 20)
FORM(red, ATOMIC ".add.f64", "m-s0", REDUCE, 50, 60)
FORM(red, ATOMIC ".{min,max}.{u32,s32,u64,s64}", "m-s0", REDUCE, 31, 32)
FORM(red, ATOMIC ".{inc,dec}.u32", "m-s0", REDUCE, 12, 11)
FORM(red, ATOMIC ".{and,or,xor}.{b32,b64}", "m-s0", REDUCE, 31, 32)
FORM(prefetch, "[.{global,local}].{L1,L2}", "m-", NOTHING, 20, 20)
FORM(membar, ".{cta,gl,sys}", "", NOTHING, 14, 10)
FORM(fence, "[.{sc,acq_rel}]" SCOPE, "", NOTHING, 60, 70)

/* Among lanes and threads */
FORM(shfl, ".sync.{up,down,bfly,idx}.b32", "d0|ps0sususu", SHUFFLE, 60, 30)
FORM(vote, ".sync.{all,any,uni}.pred", "dpspsu", VOTE, 60, 30)
FORM(vote, ".sync.ballot.b32", "d0spsu", VOTE, 60, 30)
FORM(match, ".any.sync.{b32,b64}", "dus0su", MATCH, 60, 70)
FORM(match, ".all.sync.{b32,b64}", "du|ps0su", MATCH, 60, 70)
FORM(redux, ".sync.{add,min,max}.{u32,s32}", "d0s0su", REDUX, 70, 80)
FORM(redux, ".sync.{and,or,xor}.b32", "d0s0su", REDUX, 70, 80)
FORM(activemask, ".b32", "d0", ACTIVE_MASK, 62, 30)
FORM(bar, ".warp.sync", "su", WARP_BARRIER, 60, 30)
FORM(bar, "[.cta].sync", "susu?", BARRIER, 10, 10)
FORM(bar, "[.cta].arrive", "susu", BARRIER, 20, 20)
FORM(bar, "[.cta].red.popc.u32", "d0suousp", BARRIER, 20, 20)
FORM(bar, "[.cta].red.{and,or}.pred", "dpsuousp", BARRIER, 20, 20)
FORM(barrier, "[.cta].sync[.aligned]", "susu?", BARRIER, 60, 30)
FORM(barrier, "[.cta].arrive[.aligned]", "susu", BARRIER, 60, 30)
FORM(barrier, "[.cta].red.popc[.aligned].u32", "d0suousp", BARRIER, 60, 30)
FORM(barrier, "[.cta].red.{and,or}[.aligned].pred", "dpsuousp", BARRIER, 60,
     30)

/* Control */
FORM(bra, "[.uni]", "l-", BRANCH, 10, 10)
FORM(brx, ".idx[.uni]", "sut-", BRANCH_TABLE, 60, 30)
FORM(call, "[.uni]", "", CALL, 10, 10)
FORM(ret, "[.uni]", "", RETURN, 10, 10)
FORM(exit, "", "", EXIT, 10, 10)
FORM(trap, "", "", TRAP, 10, 10)
FORM(nanosleep, ".u32", "su", NOTHING, 63, 70)

#undef INTEGERS
#undef WORDS
#undef ROUND
#undef ANY_TYPE
#undef MEMORY_TYPE
#undef SCOPE
#undef LEVELS
#undef LOAD_SPACE
#undef STORE_SPACE
#undef ATOMIC
#undef ORDERED
#undef FLOAT_ORDERED
#undef BOOLEAN
#undef CONVERTED
