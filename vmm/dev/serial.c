// SPDX-License-Identifier: GPL-2.0-only
/*
 * A 16550A (National Semiconductor PC16550D data sheet). Sending takes no time: the
 * transmitter is always empty by the time the guest looks. Receiving is paced by the
 * guest: bytes come from the descriptor only when somebody listens and there is room,
 * so nothing that is piped in gets lost.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "vmm/dev/serial.h"
#include "vmm/dev/txring.h"
#include "vmm/layout.h"
#include "vmm/machine.h"

enum {
	RBR_THR,
	IER,
	IIR_FCR,
	LCR,
	MCR,
	LSR,
	MSR,
	SCR,
	NR_REGS
};

#define IER_RDI	     0x01
#define IER_THRI     0x02
#define IER_RLSI     0x04
#define IER_MSI	     0x08

#define IIR_NONE     0x01
#define IIR_MSI	     0x00
#define IIR_THRI     0x02
#define IIR_RDI	     0x04
#define IIR_TIMEOUT  0x0c
#define IIR_FIFO     0xc0

#define FCR_ENABLE   0x01
#define FCR_CLEAR_RX 0x02
#define FCR_CLEAR_TX 0x04

#define LCR_STOP     0x04
#define LCR_PARITY   0x08
#define LCR_DLAB     0x80

#define MCR_DTR	     0x01
#define MCR_RTS	     0x02
#define MCR_OUT1     0x04
#define MCR_OUT2     0x08
#define MCR_LOOP     0x10

#define LSR_DR	     0x01
#define LSR_OE	     0x02
#define LSR_THRE     0x20
#define LSR_TEMT     0x40

#define MSR_DELTA    0x0f
#define MSR_TERI     0x04 /* ring indicator: only its falling edge counts */
#define MSR_CTS	     0x10
#define MSR_DSR	     0x20
#define MSR_RI	     0x40
#define MSR_DCD	     0x80

#define FIFO_SIZE    16
#define CLOCK_HZ     1843200ull

#define FLUSH_NS     5000000ull /* a prompt without a newline shows up after this */
#define RETRY_NS     20000000ull /* a full descriptor is tried again after this */
#define FLUSH_FILL   2048u /* so much is written out without waiting for a newline */
#define DRAIN_MS     2000
#define INPUT_SIZE   1024u

enum input {
	INPUT_NONE, /* no descriptor, or at its end */
	INPUT_IDLE, /* not watched: nobody listens or there is no room */
	INPUT_WATCHED,
	INPUT_FILE, /* cannot be watched and never makes a reader wait (epoll_ctl(2), EPERM) */
};

struct vmm_serial {
	struct vmm *vmm;
	uint8_t ier, fcr, lcr, mcr, lsr, msr, scr, dll, dlm;
	bool thri; /* transmitter empty and not told of yet */
	bool timeout; /* bytes lie in the FIFO below its trigger level */
	bool line;
	uint8_t fifo[FIFO_SIZE];
	unsigned int fifo_at, fifo_len;
	bool looped; /* the FIFO holds bytes that the guest sent to itself */
	struct vmm_timer *rx_timer;
	int in_fd;
	enum input input;
	uint8_t in_buf[INPUT_SIZE + FIFO_SIZE]; /* with room for what the FIFO gives back */
	size_t in_at, in_len;
	struct vmm_timer *tx_timer;
	bool tx_armed;
	struct vmm_txring tx;
};

static unsigned int trigger_level(const struct vmm_serial *s)
{
	static const uint8_t level[] = { 1, 4, 8, 14 };

	return s->fcr & FCR_ENABLE ? level[s->fcr >> 6] : 1;
}

/* Four characters' time, after which a FIFO below its trigger level is announced as well. */
static uint64_t timeout_ns(const struct vmm_serial *s)
{
	unsigned int divisor = s->dlm << 8 | s->dll;
	unsigned int bits =
		1 + 5 + (s->lcr & 3) + !!(s->lcr & LCR_PARITY) + 1 + !!(s->lcr & LCR_STOP);

	return 4ull * bits * 16 * (divisor ? divisor : 1) * 1000000000ull / CLOCK_HZ;
}

static uint8_t iir(const struct vmm_serial *s)
{
	uint8_t fifo = s->fcr & FCR_ENABLE ? IIR_FIFO : 0;

	if ((s->ier & IER_RLSI) && (s->lsr & LSR_OE))
		return fifo | 0x06;
	if ((s->ier & IER_RDI) && s->fifo_len >= trigger_level(s))
		return fifo | IIR_RDI;
	if ((s->ier & IER_RDI) && s->timeout && s->fifo_len)
		return fifo | IIR_TIMEOUT;
	if ((s->ier & IER_THRI) && s->thri)
		return fifo | IIR_THRI;
	if ((s->ier & IER_MSI) && (s->msr & MSR_DELTA))
		return fifo | IIR_MSI;
	return fifo | IIR_NONE;
}

/* On a PC the interrupt reaches the bus through a gate that OUT2 opens; loopback closes it. */
static void line_update(struct vmm_serial *s)
{
	bool level = !(iir(s) & IIR_NONE) && (s->mcr & (MCR_OUT2 | MCR_LOOP)) == MCR_OUT2;

	if (level == s->line)
		return;
	s->line = level;
	vmm_irq_line(s->vmm->irq, VMM_IRQ_COM1, level);
}

static uint8_t modem_inputs(const struct vmm_serial *s)
{
	if (!(s->mcr & MCR_LOOP))
		return MSR_CTS | MSR_DSR | MSR_DCD;
	return (s->mcr & MCR_RTS ? MSR_CTS : 0) | (s->mcr & MCR_DTR ? MSR_DSR : 0) |
	       (s->mcr & MCR_OUT1 ? MSR_RI : 0) | (s->mcr & MCR_OUT2 ? MSR_DCD : 0);
}

static void modem_update(struct vmm_serial *s)
{
	uint8_t old = s->msr & ~MSR_DELTA, now = modem_inputs(s);
	uint8_t delta = (old ^ now) >> 4;

	if (now & MSR_RI)
		delta &= ~MSR_TERI;
	s->msr = now | (s->msr & MSR_DELTA) | delta;
}

/*
 * Clearing the FIFO loses what came over a wire. What came from the descriptor is put
 * back in front of the rest: Linux enables the receive interrupt first and the FIFO,
 * which that clears, after it.
 */
static void give_back(struct vmm_serial *s)
{
	size_t n = s->looped ? 0 : s->fifo_len, rest = s->in_len - s->in_at, i;

	memmove(s->in_buf + n, s->in_buf + s->in_at, rest);
	for (i = 0; i < n; i++)
		s->in_buf[i] = s->fifo[(s->fifo_at + i) % FIFO_SIZE];
	s->in_at = 0;
	s->in_len = n + rest;
}

static void fifo_clear(struct vmm_serial *s)
{
	give_back(s);
	s->looped = false;
	s->fifo_len = 0;
	s->timeout = false;
	s->lsr &= ~LSR_DR;
	vmm_timer_arm(s->rx_timer, 0);
}

/* Bytes arrived or were taken: the character timeout starts over. */
static void fifo_changed(struct vmm_serial *s)
{
	s->timeout = false;
	if (s->fifo_len)
		s->lsr |= LSR_DR;
	else
		s->lsr &= ~LSR_DR;
	if ((s->ier & IER_RDI) && s->fifo_len && s->fifo_len < trigger_level(s))
		vmm_timer_arm(s->rx_timer, timeout_ns(s));
	else
		vmm_timer_arm(s->rx_timer, 0);
}

static void fifo_push(struct vmm_serial *s, uint8_t byte)
{
	unsigned int size = s->fcr & FCR_ENABLE ? FIFO_SIZE : 1;

	if (s->fifo_len == size) {
		s->lsr |= LSR_OE;
		/* With the FIFO on the new byte is lost, without it the old one. */
		if (size == 1)
			s->fifo[s->fifo_at] = byte;
		return;
	}
	s->fifo[(s->fifo_at + s->fifo_len++) % FIFO_SIZE] = byte;
}

static void input_ready(void *priv, int fd);

/* Read what the descriptor has. Return: false when there is nothing now. */
static bool input_read(struct vmm_serial *s)
{
	ssize_t n;

	if (s->in_at == s->in_len)
		s->in_at = s->in_len = 0;
	if (s->in_len >= INPUT_SIZE)
		return false;
	n = read(s->in_fd, s->in_buf + s->in_len, INPUT_SIZE - s->in_len);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (n <= 0) {
		if (s->input == INPUT_WATCHED)
			vmm_loop_unwatch(s->vmm->loop, s->in_fd);
		s->input = INPUT_NONE;
		return false;
	}
	s->in_len += n;
	return true;
}

static void input_resume(struct vmm_serial *s)
{
	int ret;

	if (s->input == INPUT_FILE)
		input_read(s);
	if (s->input != INPUT_IDLE)
		return;
	ret = vmm_loop_watch(s->vmm->loop, s->in_fd, input_ready, s);
	if (!ret) {
		s->input = INPUT_WATCHED;
	} else if (ret == -EPERM) {
		s->input = INPUT_FILE;
		input_read(s);
	}
}

static void input_pause(struct vmm_serial *s)
{
	if (s->input != INPUT_WATCHED)
		return;
	vmm_loop_unwatch(s->vmm->loop, s->in_fd);
	s->input = INPUT_IDLE;
}

/*
 * Hand waiting input to the guest. A guest that has not enabled the receive interrupt
 * is not listening: Linux clears the FIFO when it opens the port, and what lay there
 * would be gone.
 */
static void input_feed(struct vmm_serial *s)
{
	unsigned int size = s->fcr & FCR_ENABLE ? FIFO_SIZE : 1, before = s->fifo_len;

	if (!(s->ier & IER_RDI) || (s->mcr & MCR_LOOP)) {
		input_pause(s);
		return;
	}
	while (s->fifo_len < size) {
		if (s->in_at == s->in_len) {
			input_resume(s);
			if (s->in_at == s->in_len)
				break;
		}
		fifo_push(s, s->in_buf[s->in_at++]);
	}
	if (s->in_at < s->in_len && s->in_len >= INPUT_SIZE)
		input_pause(s);
	if (s->fifo_len != before)
		fifo_changed(s);
}

static void input_ready(void *priv, int fd)
{
	struct vmm_serial *s = priv;

	(void)fd;
	if (!input_read(s) && s->in_len >= INPUT_SIZE)
		input_pause(s);
	input_feed(s);
	line_update(s);
}

static void rx_timeout(void *priv)
{
	struct vmm_serial *s = priv;

	s->timeout = s->fifo_len != 0;
	line_update(s);
}

static void tx_arm(struct vmm_serial *s, uint64_t ns)
{
	if (!ns && !s->tx_armed)
		return;
	s->tx_armed = ns != 0;
	vmm_timer_arm(s->tx_timer, ns);
}

static void tx_flush(struct vmm_serial *s)
{
	tx_arm(s, vmm_txring_write(&s->tx) ? 0 : RETRY_NS);
}

static void tx_timer(void *priv)
{
	struct vmm_serial *s = priv;

	s->tx_armed = false;
	tx_flush(s);
}

static void send(struct vmm_serial *s, uint8_t byte)
{
	bool behind = vmm_txring_fill(&s->tx) > FLUSH_FILL;

	/* Empty at once: the interrupt condition falls and rises, which makes an edge. */
	s->thri = false;
	line_update(s);
	if (s->mcr & MCR_LOOP) {
		fifo_push(s, byte);
		s->looped = true;
		fifo_changed(s);
	} else if (s->tx.fd >= 0) {
		vmm_txring_put(&s->tx, byte);
		/* While the reader is behind, trying again with every line only costs time. */
		if (!behind && (byte == '\n' || vmm_txring_fill(&s->tx) > FLUSH_FILL))
			tx_flush(s);
		else if (!s->tx_armed)
			tx_arm(s, behind ? RETRY_NS : FLUSH_NS);
	}
	s->thri = true;
}

static uint8_t receive(struct vmm_serial *s)
{
	uint8_t byte;

	if (!s->fifo_len)
		return 0;
	byte = s->fifo[s->fifo_at];
	s->fifo_at = (s->fifo_at + 1) % FIFO_SIZE;
	s->fifo_len--;
	fifo_changed(s);
	if (!s->fifo_len) {
		s->looped = false;
		input_feed(s);
	}
	return byte;
}

static void set_fcr(struct vmm_serial *s, uint8_t value)
{
	if ((value ^ s->fcr) & FCR_ENABLE)
		value |= FCR_CLEAR_RX | FCR_CLEAR_TX;
	if (!(value & FCR_ENABLE))
		value &= FCR_CLEAR_RX | FCR_CLEAR_TX;
	s->fcr = value & ~(FCR_CLEAR_RX | FCR_CLEAR_TX);
	if (value & FCR_CLEAR_RX)
		fifo_clear(s);
	if (value & FCR_CLEAR_TX)
		s->thri = true;
	if (s->fifo_len)
		fifo_changed(s);
	input_feed(s);
}

static void set_ier(struct vmm_serial *s, uint8_t value)
{
	uint8_t rises = value & ~s->ier;

	s->ier = value & 0x0f;
	/* Enabling the interrupt while the transmitter is empty raises it (Linux tests for this). */
	if (rises & IER_THRI)
		s->thri = true;
	if (rises & IER_RDI)
		fifo_changed(s);
	input_feed(s);
}

static void write_reg(struct vmm_serial *s, unsigned int reg, uint8_t value)
{
	switch (reg) {
	case RBR_THR:
		if (s->lcr & LCR_DLAB)
			s->dll = value;
		else
			send(s, value);
		break;
	case IER:
		if (s->lcr & LCR_DLAB)
			s->dlm = value;
		else
			set_ier(s, value);
		break;
	case IIR_FCR:
		set_fcr(s, value);
		break;
	case LCR:
		s->lcr = value;
		break;
	case MCR:
		s->mcr = value & 0x1f;
		modem_update(s);
		input_feed(s);
		break;
	case SCR:
		s->scr = value;
		break;
	}
	line_update(s);
}

static uint8_t read_reg(struct vmm_serial *s, unsigned int reg)
{
	uint8_t value = 0;

	switch (reg) {
	case RBR_THR:
		value = s->lcr & LCR_DLAB ? s->dll : receive(s);
		break;
	case IER:
		value = s->lcr & LCR_DLAB ? s->dlm : s->ier;
		break;
	case IIR_FCR:
		value = iir(s);
		/* Reading it answers a transmitter interrupt, but only one that it shows. */
		if ((value & 0x0f) == IIR_THRI)
			s->thri = false;
		break;
	case LCR:
		value = s->lcr;
		break;
	case MCR:
		value = s->mcr;
		break;
	case LSR:
		value = s->lsr | LSR_THRE | LSR_TEMT;
		s->lsr &= ~LSR_OE;
		break;
	case MSR:
		value = s->msr;
		s->msr &= ~MSR_DELTA;
		break;
	case SCR:
		value = s->scr;
		break;
	}
	line_update(s);
	return value;
}

static void serial_io(void *priv, uint64_t offset, void *data, unsigned int len, bool write)
{
	uint8_t *byte = data;
	unsigned int i;

	for (i = 0; i < len && offset + i < NR_REGS; i++) {
		if (write)
			write_reg(priv, offset + i, byte[i]);
		else
			byte[i] = read_reg(priv, offset + i);
	}
}

void vmm_serial_reset(struct vmm_serial *s)
{
	s->ier = 0;
	s->fcr = 0;
	s->lcr = 0;
	s->mcr = 0;
	s->lsr = 0;
	s->scr = 0;
	/* 9600 baud, what firmware leaves and Linux takes over when it is given no speed. */
	s->dll = 12;
	s->dlm = 0;
	s->thri = false;
	s->msr = modem_inputs(s);
	fifo_clear(s);
	input_pause(s);
	line_update(s);
}

int vmm_serial_new(struct vmm *vmm, int out_fd, int in_fd, struct vmm_serial **out)
{
	struct vmm_serial *s = calloc(1, sizeof(*s));
	int ret;

	if (!s)
		return -ENOMEM;
	s->vmm = vmm;
	s->tx.fd = out_fd;
	s->in_fd = in_fd;
	s->input = in_fd < 0 ? INPUT_NONE : INPUT_IDLE;
	ret = vmm_timer_new(vmm->loop, tx_timer, s, &s->tx_timer);
	if (ret)
		goto free;
	ret = vmm_timer_new(vmm->loop, rx_timeout, s, &s->rx_timer);
	if (ret)
		goto free_tx_timer;
	vmm_serial_reset(s);
	ret = vmm_bus_add(vmm->pio, VMM_PORT_COM1, NR_REGS, serial_io, s, "serial");
	if (ret)
		goto free_rx_timer;
	*out = s;
	return 0;
free_rx_timer:
	vmm_timer_free(s->rx_timer);
free_tx_timer:
	vmm_timer_free(s->tx_timer);
free:
	free(s);
	return ret;
}

void vmm_serial_free(struct vmm_serial *s)
{
	if (!s)
		return;
	vmm_bus_remove(s->vmm->pio, VMM_PORT_COM1);
	input_pause(s);
	vmm_txring_drain(&s->tx, DRAIN_MS);
	vmm_timer_free(s->rx_timer);
	vmm_timer_free(s->tx_timer);
	free(s);
}
