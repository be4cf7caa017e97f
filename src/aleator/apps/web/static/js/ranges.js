// Ranges to begin with: chips that add hands, and typical ranges of six-handed cash games, 100 big blinds deep.

export const QUICK = [
  ["All", "random"],
  ["Pairs", "22+"],
  ["Broadway", "TT+,ATs+,KTs+,QTs+,JTs,ATo+,KTo+,QTo+,JTo"],
  ["Suited aces", "A2s+"],
  ["Connectors", "T9s,98s,87s,76s,65s,54s"],
];

export const TYPICAL = [
  ["Under the gun opens, 15 %", "55+,A3s+,K9s+,QTs+,JTs,T9s,98s,87s,AJo+,KQo"],
  ["Cutoff opens, 26 %", "22+,A2s+,K6s+,Q8s+,J8s+,T8s+,97s+,87s,76s,65s,A9o+,KTo+,QTo+,JTo"],
  ["Button opens, 44 %", "22+,A2s+,K2s+,Q4s+,J6s+,T6s+,96s+,85s+,75s+,64s+,54s,A3o+,K8o+,Q9o+,J8o+,T8o+,98o"],
  ["Small blind opens, 40 %", "22+,A2s+,K2s+,Q4s+,J6s+,T6s+,96s+,86s+,75s+,65s,54s,A4o+,K8o+,Q9o+,J9o+,T9o"],
  [
    "Big blind calls the button, 34 %",
    "TT-22,A9s-A2s,KTs-K2s,QTs-Q4s,JTs-J6s,T9s-T6s,98s-95s,87s-85s,76s-74s,65s-63s,54s-53s,43s,AJo-A5o,KJo-K9o,QJo-Q9o,JTo-J9o,T9o,98o",
  ],
  ["Big blind 3-bets the button, 7 %", "JJ+,AJs+,A5s-A2s:0.5,KTs+,QJs,JTs:0.5,T9s:0.5,98s:0.25,AQo+,KJo:0.5,A8o:0.25"],
  ["Button calls a 3-bet, 11 %", "TT-55,AQs-A8s,A5s-A4s,KQs-KTs,QJs-QTs,JTs,T9s,98s,87s,76s,AQo-AJo,KQo"],
  ["4-bet, 3 %", "QQ+,AKs,AKo,A5s:0.5"],
];
