// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

// What the packages of the exchanges do not bring along, for the tests: who trades with V3 pools, and who deploys PancakeSwap's. test-contracts.json
// holds what solc 0.8.37 makes of it (optimizer on, 200 runs, EVM version paris).

interface IToken {
    function transferFrom(address from, address to, uint256 value) external returns (bool);
}

interface IAlgebraPool {
    function mint(address sender, address owner, int24 lower, int24 upper, uint128 amount, bytes calldata data)
        external
        returns (uint256, uint256, uint128);
}

interface IAlgebraIntegralPool {
    function burn(int24 lower, int24 upper, uint128 amount, bytes calldata data) external returns (uint256, uint256);
}

interface IPool {
    function token0() external view returns (address);
    function token1() external view returns (address);
    function mint(address owner, int24 lower, int24 upper, uint128 amount, bytes calldata data)
        external
        returns (uint256, uint256);
    function burn(int24 lower, int24 upper, uint128 amount) external returns (uint256, uint256);
    function collect(address to, int24 lower, int24 upper, uint128 amount0, uint128 amount1)
        external
        returns (uint128, uint128);
    function swap(address to, bool zeroForOne, int256 amount, uint160 limit, bytes calldata data)
        external
        returns (int256, int256);
}

/// Mints, burns, collects and swaps for whoever calls, with their tokens. Holds all positions itself.
contract TestV3Router {
    function mint(IPool pool, int24 lower, int24 upper, uint128 amount) external {
        pool.mint(address(this), lower, upper, amount, abi.encode(msg.sender));
    }

    function mintAlgebra(IAlgebraPool pool, int24 lower, int24 upper, uint128 amount) external {
        pool.mint(msg.sender, address(this), lower, upper, amount, abi.encode(msg.sender));
    }

    function burn(IPool pool, int24 lower, int24 upper, uint128 amount) external {
        pool.burn(lower, upper, amount);
    }

    function burnIntegral(IAlgebraIntegralPool pool, int24 lower, int24 upper, uint128 amount) external {
        pool.burn(lower, upper, amount, "");
    }

    function collect(IPool pool, int24 lower, int24 upper) external {
        pool.collect(msg.sender, lower, upper, type(uint128).max, type(uint128).max);
    }

    function swap(IPool pool, bool zeroForOne, int256 amount, uint160 limit) external {
        pool.swap(msg.sender, zeroForOne, amount, limit, abi.encode(msg.sender));
    }

    function uniswapV3MintCallback(uint256 owed0, uint256 owed1, bytes calldata data) external {
        pay(owed0, owed1, data);
    }

    function pancakeV3MintCallback(uint256 owed0, uint256 owed1, bytes calldata data) external {
        pay(owed0, owed1, data);
    }

    function algebraMintCallback(uint256 owed0, uint256 owed1, bytes calldata data) external {
        pay(owed0, owed1, data);
    }

    function uniswapV3SwapCallback(int256 delta0, int256 delta1, bytes calldata data) external {
        pay(delta0 > 0 ? uint256(delta0) : 0, delta1 > 0 ? uint256(delta1) : 0, data);
    }

    function pancakeV3SwapCallback(int256 delta0, int256 delta1, bytes calldata data) external {
        pay(delta0 > 0 ? uint256(delta0) : 0, delta1 > 0 ? uint256(delta1) : 0, data);
    }

    function algebraSwapCallback(int256 delta0, int256 delta1, bytes calldata data) external {
        pay(delta0 > 0 ? uint256(delta0) : 0, delta1 > 0 ? uint256(delta1) : 0, data);
    }

    function pay(uint256 owed0, uint256 owed1, bytes calldata data) private {
        address payer = abi.decode(data, (address));
        if (owed0 > 0) IToken(IPool(msg.sender).token0()).transferFrom(payer, msg.sender, owed0);
        if (owed1 > 0) IToken(IPool(msg.sender).token1()).transferFrom(payer, msg.sender, owed1);
    }
}

/// Deploys the pool that PancakeSwap's factory asks for: the real pool's code, which is given once.
contract TestPoolDeployer {
    bytes private code;

    struct Parameters {
        address factory;
        address token0;
        address token1;
        uint24 fee;
        int24 tickSpacing;
    }

    Parameters public parameters;

    constructor(bytes memory code_) {
        code = code_;
    }

    function deploy(address factory, address token0, address token1, uint24 fee, int24 tickSpacing)
        external
        returns (address pool)
    {
        parameters = Parameters(factory, token0, token1, fee, tickSpacing);
        bytes memory creation = code;
        bytes32 salt = keccak256(abi.encode(token0, token1, fee));
        assembly {
            pool := create2(0, add(creation, 32), mload(creation), salt)
        }
        require(pool != address(0), "no pool");
    }
}

/// Calls others in one transaction: a trader's contract, a router, or a user's account that a bundler calls.
contract TestBatch {
    function run(address[] calldata targets, bytes[] calldata calls) external {
        for (uint256 index = 0; index < targets.length; index++) {
            (bool done,) = targets[index].call(calls[index]);
            require(done, "a call failed");
        }
    }
}

/// Reports whatever a launchpad reports, and knows its tokens as four.meme's and flap's contracts do.
contract TestLaunchpad {
    mapping(address => address) private quotes;
    mapping(address => bool) private known;

    struct TokenInfo {
        address base;
        address quote;
        uint256[11] rest;
    }

    struct TokenStateV5 {
        uint8 status;
        uint256 reserve;
        uint256 circulatingSupply;
        uint256 price;
        uint8 tokenVersion;
        uint256 r;
        uint256 h;
        uint256 k;
        uint256 dexSupplyThresh;
        address quoteTokenAddress;
        bool nativeToQuoteSwapEnabled;
        bytes32 extensionID;
    }

    function launch(address token, address quote) external {
        known[token] = true;
        quotes[token] = quote;
    }

    function report(bytes32 topic, bytes memory data) external {
        assembly {
            log1(add(data, 32), mload(data), topic)
        }
    }

    function _tokenInfos(address token) external view returns (TokenInfo memory info) {
        if (known[token]) {
            info.base = token;
            info.quote = quotes[token];
        }
    }

    function getTokenV5(address token) external view returns (TokenStateV5 memory state) {
        require(known[token], "TokenNotFound");
        state.status = 1;
        state.r = 6140000000000000000;
        state.h = 107036752 ether;
        state.k = 6797205657280000000000000000;
        state.quoteTokenAddress = quotes[token];
    }
}
