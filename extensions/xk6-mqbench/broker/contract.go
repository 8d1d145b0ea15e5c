package broker

// Contract is the number of this contract. A driver from outside names it in its mqbench.json, and mqbench refuses another one before it builds.
// It goes up with every change after which such a driver does not compile or does something else.
const Contract = 1
