// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

// Tokens for the tests, as good and as odd as those on real chains. test-contracts.json holds what solc 0.8.37 makes of them
// (optimizer on, 200 runs, EVM version paris).

/// A token that takes a fee of each transfer, 0 for an honest one, and can be closed to sellers.
contract TestToken {
    string public name;
    string public symbol;
    uint8 public immutable decimals;
    uint256 public totalSupply;
    uint256 public immutable feeBasisPoints;
    mapping(address => uint256) public balanceOf;
    mapping(address => mapping(address => uint256)) public allowance;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);

    constructor(string memory name_, string memory symbol_, uint8 decimals_, uint256 supply, uint256 fee) {
        name = name_;
        symbol = symbol_;
        decimals = decimals_;
        feeBasisPoints = fee;
        totalSupply = supply;
        balanceOf[msg.sender] = supply;
        emit Transfer(address(0), msg.sender, supply);
    }

    function approve(address spender, uint256 value) external returns (bool) {
        allowance[msg.sender][spender] = value;
        emit Approval(msg.sender, spender, value);
        return true;
    }

    function transfer(address to, uint256 value) external returns (bool) {
        move(msg.sender, to, value);
        return true;
    }

    function transferFrom(address from, address to, uint256 value) external returns (bool) {
        uint256 allowed = allowance[from][msg.sender];
        if (allowed != type(uint256).max) allowance[from][msg.sender] = allowed - value;
        move(from, to, value);
        return true;
    }

    function move(address from, address to, uint256 value) private {
        uint256 fee = (value * feeBasisPoints) / 10_000;
        balanceOf[from] -= value;
        balanceOf[to] += value - fee;
        balanceOf[address(0xdead)] += fee;
        emit Transfer(from, to, value - fee);
    }
}

/// A token from before the standard: its words are 32 bytes.
contract OldToken {
    bytes32 public constant name = "Old Maker";
    bytes32 public constant symbol = "OLD";
    uint256 public constant decimals = 9;
}

/// A token without words.
contract MuteToken {
    uint8 public constant decimals = 6;

    function symbol() external pure returns (string memory) {
        revert("no words");
    }
}

/// A contract that eats all gas that it is given.
contract GasEater {
    uint8 public constant decimals = 18;

    function symbol() external pure returns (string memory) {
        while (true) {}
    }
}

/// A contract that says it has more decimals than any number.
contract NoToken {
    uint256 public constant decimals = type(uint256).max;
}
